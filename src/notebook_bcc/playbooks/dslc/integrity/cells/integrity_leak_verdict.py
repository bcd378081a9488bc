#% if inputs.keep is defined and inputs.keep
kept_leaks = {name: why for name, why in leaks.items() if name in {{ inputs.keep }}}
leaks = {name: why for name, why in leaks.items() if name not in kept_leaks}
#% endif
# A column is named once: evident leaks first, then what is suspicious, then what is doubtful.
suspects = {name: score for name, score in suspects.items() if name not in leaks and name not in kept_leaks}
doubtful_columns = {name: word for name, word in doubtful_columns.items() if name not in [*leaks, *kept_leaks, *suspects]}
leaks or None
