// Package migrate migrates tables from one design to another while programs of both are in use.
//
// # Model
//
//	OLD ──╮                          ╭─▶ dual-writes: OLD's patterns, items for both ─▶ backfill completes the items
//	      ├─ transition, both ways ──┤
//	NEW ──╯                          ╰─▶ new-reads:   NEW's patterns, items for both ─▶ finish removes what NEW does not have
//
// Items are always written through a design. The programs in between have ordinary designs: the old design with the new one's
// copies, markers, entries and indexes added, and its key as one more copy; and the same with the roles swapped. All commands
// accept such a design: it is checked, tested and used for generated code, and items are compared with it.
//
// The application goes through OLD, dual-writes, new-reads, NEW, and two successive versions may run side by side:
//
//	programs side by side      what both read       what both maintain
//	OLD, dual-writes           old places           old places
//	dual-writes, new-reads     each its own         both: each write is one transaction over both
//	new-reads, NEW             new places           new places
//
// New places are complete after the backfill, which starts once no program of OLD is left: the Scan sees everything that
// programs of OLD wrote, and programs of dual-writes already write the new places.
//
// # Invariants
//
//	I1  A write is conditional on those parts of the item that it was computed from. So no write of the application is lost, and
//	    nothing that it has deleted comes back.
//	I2  Progress is recorded page by page, in a table at the endpoint. Processing a page twice is harmless: a run that was
//	    stopped at any moment can be resumed.
//	I3  Only one run holds the record. That saves work; correctness rests on I1.
//	I4  Nothing is removed unless all items match the new design, apart from what is to be removed.
//	I5  An item that cannot be brought to the new shape is left as it is, and the comparison says why.
//
// A change for which no design can serve both programs is rejected, with advice.
//
// # Errors and concurrency
//
// ErrFindings comes with a report. ErrHeld and ErrLost mean that there are two runs of one migration. Other errors are the
// SDK's. A Migration may be used by one goroutine at a time; it starts its own.
package migrate
