package kv

// Seq orders the records of one log and is never reused or goes back, also across restarts and crashes; 0 is before the first.
// Numbers between two records of a log may be unused.
//
// To a store a Seq is just a number. Its caller makes it a time, through Txn.Advance:
//
//	┌──────────────────────────────┬─────────┐
//	│ milliseconds since the epoch │ counter │
//	└──────────────────────────────┴─────────┘
//	             46                    18 bits
//
// So numbers order records by time, the first number of a time is arithmetic (SeqAt), and the number at which a store continues
// after a restart is a lower bound of the time. More than 262,144 records in a millisecond overflow into the next one.
type Seq uint64

// counterBits is the width of the counter within a millisecond.
const counterBits = 18

// FirstTimed is the lowest number that is a time. Logs of format 1 counted from 1 and stay far below it.
const FirstTimed Seq = 1 << 52

// SeqAt returns the lowest number of a time in milliseconds since the epoch: records of that time or later have at least that
// number, earlier ones have lower numbers. No record has a time before that of FirstTimed, in 1970.
func SeqAt(ms int64) Seq {
	switch {
	case ms <= 0:
		return 0
	case ms >= 1<<(64-counterBits):
		return 1<<64 - 1
	default:
		return Seq(ms) << counterBits
	}
}

// Timed reports whether the number is a time.
func (s Seq) Timed() bool { return s >= FirstTimed }

// Millis returns the time of a timed number, in milliseconds since the epoch.
func (s Seq) Millis() int64 { return int64(s >> counterBits) }
