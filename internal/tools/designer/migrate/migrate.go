// Package migrate takes tables from one design to another while programs of both are in use.
//
// # Model
//
//	OLD ──╮                          ╭─▶ dual-writes: OLD's patterns, items for both ─▶ backfill makes the items so
//	      ├─ transition, both ways ──┤
//	NEW ──╯                          ╰─▶ new-reads:   NEW's patterns, items for both ─▶ finish removes what NEW has not
//
// There is no second way to write items. What programs in between do is a design as any other: the old design's, with the new one's
// copies, markers, entries and indexes added, and its key as one more copy; and the same with the two changed places. All commands
// take such a design: it is checked, tested, generated from, and the items are compared with it.
//
// The application goes through OLD, dual-writes, new-reads, NEW, and two that follow each other may run side by side:
//
//	programs side by side      what both read       what both keep
//	OLD, dual-writes           old places           old places
//	dual-writes, new-reads     each its own         both: each write is one transaction over both
//	new-reads, NEW             new places           new places
//
// New places are complete from the end of the backfill on, which begins when no program of OLD is left: what programs of OLD wrote the Scan
// sees, and what programs of dual-writes write is right already.
//
// # Invariants
//
//	I1  A write depends on the item being as it was read, as far as what is written is made of it. So no write of the application is lost, and
//	    nothing that it has deleted comes back.
//	I2  What has been done is recorded page by page, in a table at the endpoint. A page that is done twice does no harm: whatever stops a
//	    run, at whatever moment, it goes on.
//	I3  Only one run holds the record. That saves work; what keeps items right is I1.
//	I4  Nothing is removed unless all items are as the new design says, apart from what is to be removed.
//	I5  An item that cannot be brought to the new shape is left as it is, and the comparison says why.
//
// A change for which no design can serve both programs is refused with what to do instead.
//
// # Errors and concurrency
//
// ErrFindings comes with a report. ErrHeld and ErrLost are of two runs of one migration. All else is the SDK's. A Migration is used by one
// goroutine at a time; it starts its own.
package migrate
