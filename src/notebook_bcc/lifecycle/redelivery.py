"""Another place for what a run delivers, named when the run has begun already or is over."""

from __future__ import annotations

from notebook_bcc.errors import NotebookFailed
from notebook_bcc.journal.lock import RunLock
from notebook_bcc.lifecycle.deliverables import delivered_files, hand_out
from notebook_bcc.lifecycle.folder import RunFolder, keep_destination
from notebook_bcc.lifecycle.order import RunOrder
from notebook_bcc.lifecycle.out_paths import check_out, check_out_folder


def check_destination(order: RunOrder) -> None:
    """Raises NotebookFailed unless the order's files may be delivered where it says."""
    if order.out is not None:
        check_out(order.out, overwrite=order.overwrite)
    if order.out_folder is not None:
        check_out_folder(order.out_folder, overwrite=order.overwrite)


def is_elsewhere(folder: RunFolder, order: RunOrder) -> bool:
    """Whether the order wants the files where the run has not delivered them."""
    wanted = order.out or order.out_folder
    if wanted is None:
        return False
    current = folder.destination
    return wanted.absolute() != (current.file or current.folder) or not folder.delivered.exists()


def redirect(folder: RunFolder, order: RunOrder) -> None:
    """From here on the run's files go where the order says. The caller holds the lock. Raises NotebookFailed."""
    try:
        keep_destination(folder, order.inputs, order.out, order.out_folder, verify=order.verify)
    except OSError as error:
        where = str(order.out or order.out_folder)
        raise NotebookFailed(path=where, reason=error.strerror or str(error)) from error


def deliver_again(folder: RunFolder, order: RunOrder, *, whole: bool) -> list[str]:
    """Copy what a run that is over has made to where the order says. Tells what was kept of the user's, and what could
    not be done. `whole`: the run is completed. Raises RunLocked, NotebookFailed."""
    check_destination(order)
    with RunLock(folder.lock, run=folder.run_id, typed=folder.typed, doing="delivered"):
        redirect(folder, order)
        return hand_out(folder, delivered_files(folder) if whole else (), whole=whole)
