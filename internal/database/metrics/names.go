package metrics

import "github.com/prometheus/client_golang/prometheus"

// metric is one metric's name, help, type and labels.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType // without meaning for a histogram
}

// all are the metrics of a Collector.
var all []*metric

func register(kind prometheus.ValueType, name, help string, labels []string) *metric {
	m := &metric{prometheus.NewDesc("monotable_"+name, help, labels, nil), kind}
	all = append(all, m)
	return m
}

func counter(name, help string, labels ...string) *metric {
	return register(prometheus.CounterValue, name, help, labels)
}

func gauge(name, help string, labels ...string) *metric {
	return register(prometheus.GaugeValue, name, help, labels)
}

func histogram(name, help string, labels ...string) *metric {
	return register(prometheus.UntypedValue, name, help, labels)
}

// Requests.
var (
	requests         = counter("requests_total", "Requests whose response was sent.", "operation", "table")
	requestErrors    = counter("request_errors_total", "Requests that got an error response, by its code; class is user, system or throttled.", "operation", "table", "error", "class")
	requestDuration  = histogram("request_duration_seconds", "Time of successful requests, from the complete request to the encoded response.", "operation", "table")
	returnedItems    = counter("returned_items_total", "Items or stream records that responses had.", "operation", "table")
	requestsInFlight = gauge("requests_in_flight", "Requests being served.")
	memory           = gauge("request_memory_bytes", "Memory that requests being served have reserved.")
	memoryLimit      = gauge("request_memory_limit_bytes", "Memory that they may reserve; beyond it requests wait, and are throttled.")
	receivedBytes    = counter("received_bytes_total", "Bytes of the bodies of requests, as sent.")
	sentBytes        = counter("sent_bytes_total", "Bytes of the bodies of responses, as sent.")
	latchWait        = histogram("latch_wait_seconds", "Time that requests waited for items that others were writing; requests that did not wait are left out.")
	syncWait         = histogram("commit_wait_seconds", "Time that writes waited for their commit to be on disk, or as durable as the server promises.")
	panics           = counter("panics_total", "Requests that ended in a panic.")
	auditLost        = counter("audit_lost_records_total", "Records of the audit log that could not be written.")
)

// Tables.
var (
	tables             = gauge("tables", "Tables that exist.")
	readUnits          = counter("consumed_read_capacity_units_total", "Read capacity units consumed, by DynamoDB's accounting; the table itself has an empty index label.", "table", "index")
	writeUnits         = counter("consumed_write_capacity_units_total", "Write capacity units consumed, by DynamoDB's accounting; the table itself has an empty index label.", "table", "index")
	conditionsFailed   = counter("conditional_check_failures_total", "Writes of items whose condition was false, in transactions too.", "table")
	conflicts          = counter("transaction_conflicts_total", "Writes of items that met a transaction on the same item.", "table")
	throttleEvents     = counter("throttle_events_total", "Reads and writes of items that a limit of throughput stood in the way of, by the limit: ReadProvisionedThroughput, WriteKeyRangeThroughput, …; the table itself has an empty index label.", "table", "index", "reason")
	items              = gauge("items", "Items of the table, or entries of the index.", "table", "index")
	itemBytes          = gauge("item_bytes", "Size of the items of the table, or of the entries of the index, by DynamoDB's accounting.", "table", "index")
	changeLogBytes     = gauge("change_log_bytes", "Estimated bytes on disk of the table's change log.", "table")
	changeLogs         = gauge("change_logs_bytes", "Estimated bytes on disk of all change logs, those of deleted tables included.")
	changeLogsMax      = gauge("change_logs_max_bytes", "The cap on them, of --log-max-bytes; 0 is none.")
	backups            = gauge("table_backups", "Backups of the table.", "table")
	newestBackup       = gauge("table_backup_newest_timestamp_seconds", "When the table's newest backup was made.", "table")
	expiredItems       = counter("ttl_deleted_items_total", "Items deleted because they had expired.", "table")
	ttlBacklog         = gauge("ttl_backlog_items", "Items that have expired and are not deleted yet; 10000 are many.", "table")
	ttlBacklogAge      = gauge("ttl_backlog_age_seconds", "How long ago the first of them expired.", "table")
	returnedRecords    = counter("returned_records_total", "Stream records that GetRecords returned.", "table")
	iteratorAge        = gauge("stream_iterator_age_seconds", "Age of the oldest record of the shard that GetRecords has not returned, as an upper bound; 0 if it has returned all.", "table", "shard")
	delivered          = counter("kinesis_records_total", "Records delivered to the table's Kinesis destination, those delivered again included.", "table")
	deliveryFailures   = counter("kinesis_failures_total", "Attempts to deliver records to the table's Kinesis destination that failed, in whole or in part.", "table")
	replicationLag     = gauge("replication_lag_seconds", "Age of the oldest change that has not arrived at the table from its replica in another Region; 0 if all have.", "table", "from")
	replicationTime    = histogram("replication_latency_seconds", "Time from a change of the table until it had arrived at its replica in another Region.", "table", "to")
	replicationPending = gauge("replication_pending_changes", "Changes of the table that have not arrived at its replica in another Region; a lower bound where they are more than about 1000.", "table", "to")
	deliveryLag        = gauge("kinesis_lag_seconds", "Age of the oldest change that has not been delivered to the table's Kinesis destination; 0 if all have been.", "table")
	jobs               = gauge("jobs", "Background jobs under way.", "kind")
)

// The state of the database.
var (
	ready    = gauge("ready", "1 if the database takes reads and writes.")
	scrapeOK = gauge("scrape_success", "1 if this scrape could read the state of the tables.")
)

// The store on disk.
var (
	syncDuration       = histogram("log_sync_duration_seconds", "Time of syncs of the write-ahead log; many commits share one.")
	writeStalls        = counter("write_stalls_total", "Times that all writes had to wait for flushes or compactions.")
	writeStallSeconds  = counter("write_stall_seconds_total", "Time for which they did.")
	writeStalled       = gauge("write_stalled", "1 while all writes wait.")
	cacheBytes         = gauge("block_cache_bytes", "Size of the cache of blocks.")
	cacheHits          = counter("block_cache_hits_total", "Blocks found in the cache.")
	cacheMisses        = counter("block_cache_misses_total", "Blocks read from the disk.")
	compactionDebt     = gauge("compaction_debt_bytes", "Estimated bytes that compactions have to rewrite.")
	compactions        = counter("compactions_total", "Compactions that ended.")
	compactionsFailed  = counter("compactions_failed_total", "Compactions that failed; they are tried again.")
	compactionsRunning = gauge("compactions_running", "Compactions under way.")
	compactionSeconds  = counter("compaction_seconds_total", "Time that compactions took.")
	flushes            = counter("flushes_total", "Flushes of memtables to tables on disk.")
	writtenBytes       = counter("written_bytes_total", "Bytes written: by the database to the store (user), and by the store to its log and tables.", "to")
	writeAmplification = gauge("write_amplification_ratio", "Bytes written to disk for each byte that the database wrote, since the start.")
	l0Files            = gauge("l0_files", "Tables on disk in level 0; many slow reads and writes down.")
	l0Sublevels        = gauge("l0_sublevels", "Sublevels of level 0, which every read may look at.")
	memtableBytes      = gauge("memtable_bytes", "Memory of memtables.")
	memtables          = gauge("memtables", "Memtables, those being flushed included.")
	openSnapshots      = gauge("open_snapshots", "Snapshots in use; they keep old versions on disk.")
	openIterators      = gauge("open_table_iterators", "Iterators over tables on disk in use.")
	diskBytes          = gauge("disk_bytes", "Bytes of the store's files, by kind.", "kind")
	fileSystemBytes    = gauge("file_system_bytes", "Size of the file system of the data directory.")
	fileSystemWritable = gauge("file_system_writable_bytes", "Bytes that writes may still take before they are refused: free ones without the reserve.")
	fileSystemFree     = gauge("file_system_free_bytes", "Bytes free on the file system of the data directory.")
)
