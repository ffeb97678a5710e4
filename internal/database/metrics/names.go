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
	requestErrors    = counter("request_errors_total", "Requests that received an error response, by error code; class is user, system or throttled.", "operation", "table", "error", "class")
	requestDuration  = histogram("request_duration_seconds", "Latency of successful requests, from the complete request to the encoded response.", "operation", "table")
	returnedItems    = counter("returned_items_total", "Items or stream records in responses.", "operation", "table")
	requestsInFlight = gauge("requests_in_flight", "Requests being served.")
	memory           = gauge("request_memory_bytes", "Memory reserved by requests being served.")
	memoryLimit      = gauge("request_memory_limit_bytes", "Limit of the memory that requests may reserve; beyond it they wait, and are throttled.")
	receivedBytes    = counter("received_bytes_total", "Bytes of request bodies, as sent.")
	sentBytes        = counter("sent_bytes_total", "Bytes of response bodies, as sent.")
	latchWait        = histogram("latch_wait_seconds", "Time requests waited for items being written by others; excludes requests that did not wait.")
	syncWait         = histogram("commit_wait_seconds", "Time writes waited for their commit to be on disk, or as durable as configured.")
	panics           = counter("panics_total", "Requests that ended in a panic.")
	auditLost        = counter("audit_lost_records_total", "Audit log records that could not be written.")
)

// Tables.
var (
	tables             = gauge("tables", "Number of tables.")
	readUnits          = counter("consumed_read_capacity_units_total", "Read capacity units consumed, by DynamoDB's accounting; the table itself has an empty index label.", "table", "index")
	writeUnits         = counter("consumed_write_capacity_units_total", "Write capacity units consumed, by DynamoDB's accounting; the table itself has an empty index label.", "table", "index")
	conditionsFailed   = counter("conditional_check_failures_total", "Item writes whose condition failed, including those in transactions.", "table")
	conflicts          = counter("transaction_conflicts_total", "Item writes that conflicted with a transaction on the same item.", "table")
	throttleEvents     = counter("throttle_events_total", "Item reads and writes that exceeded a throughput limit, by limit: ReadProvisionedThroughput, WriteKeyRangeThroughput, …; the table itself has an empty index label.", "table", "index", "reason")
	items              = gauge("items", "Items of the table, or entries of the index.", "table", "index")
	itemBytes          = gauge("item_bytes", "Size of the table's items, or of the index's entries, by DynamoDB's accounting.", "table", "index")
	changeLogBytes     = gauge("change_log_bytes", "Estimated bytes on disk of the table's change log.", "table")
	changeLogs         = gauge("change_logs_bytes", "Estimated bytes on disk of all change logs, including those of deleted tables.")
	changeLogsMax      = gauge("change_logs_max_bytes", "Limit on all change logs, from --log-max-bytes; 0 means none.")
	backups            = gauge("table_backups", "Backups of the table.", "table")
	newestBackup       = gauge("table_backup_newest_timestamp_seconds", "Creation time of the table's newest backup.", "table")
	expiredItems       = counter("ttl_deleted_items_total", "Items deleted because they had expired.", "table")
	ttlBacklog         = gauge("ttl_backlog_items", "Expired items that are not deleted yet, counted up to 10000.", "table")
	ttlBacklogAge      = gauge("ttl_backlog_age_seconds", "Time since the oldest of these expired.", "table")
	returnedRecords    = counter("returned_records_total", "Stream records returned by GetRecords.", "table")
	iteratorAge        = gauge("stream_iterator_age_seconds", "Upper bound on the age of the oldest record of the shard not yet returned by GetRecords; 0 if all have been.", "table", "shard")
	delivered          = counter("kinesis_records_total", "Records delivered to the table's Kinesis destination, including duplicates.", "table")
	deliveryFailures   = counter("kinesis_failures_total", "Deliveries to the table's Kinesis destination that failed in whole or in part.", "table")
	replicationLag     = gauge("replication_lag_seconds", "Age of the oldest change not yet received from the table's replica in another Region; 0 if all have been.", "table", "from")
	replicationTime    = histogram("replication_latency_seconds", "Time from a change of the table until its arrival at the replica in another Region.", "table", "to")
	replicationPending = gauge("replication_pending_changes", "Changes of the table not yet received by its replica in another Region; a lower bound above about 1000.", "table", "to")
	deliveryLag        = gauge("kinesis_lag_seconds", "Age of the oldest change not yet delivered to the table's Kinesis destination; 0 if all have been.", "table")
	jobs               = gauge("jobs", "Background jobs in progress.", "kind")
)

// The state of the database.
var (
	ready    = gauge("ready", "1 if the database accepts reads and writes.")
	scrapeOK = gauge("scrape_success", "1 if this scrape could read the state of the tables.")
)

// The store on disk.
var (
	syncDuration       = histogram("log_sync_duration_seconds", "Duration of write-ahead log syncs; many commits share one.")
	writeStalls        = counter("write_stalls_total", "Number of times all writes had to wait for flushes or compactions.")
	writeStallSeconds  = counter("write_stall_seconds_total", "Total time all writes had to wait for flushes or compactions.")
	writeStalled       = gauge("write_stalled", "1 while all writes wait.")
	cacheBytes         = gauge("block_cache_bytes", "Size of the block cache.")
	cacheHits          = counter("block_cache_hits_total", "Blocks found in the block cache.")
	cacheMisses        = counter("block_cache_misses_total", "Blocks read from disk.")
	compactionDebt     = gauge("compaction_debt_bytes", "Estimated bytes that compactions have to rewrite.")
	compactions        = counter("compactions_total", "Completed compactions.")
	compactionsFailed  = counter("compactions_failed_total", "Failed compactions; they are retried.")
	compactionsRunning = gauge("compactions_running", "Compactions in progress.")
	compactionSeconds  = counter("compaction_seconds_total", "Total duration of compactions.")
	flushes            = counter("flushes_total", "Flushes of memtables to tables on disk.")
	writtenBytes       = counter("written_bytes_total", "Bytes written: by the database to the store (user), and by the store to its log and tables.", "to")
	writeAmplification = gauge("write_amplification_ratio", "Bytes written to disk per byte written by the database, since the start.")
	l0Files            = gauge("l0_files", "Tables on disk in level 0; a large number slows reads and writes.")
	l0Sublevels        = gauge("l0_sublevels", "Sublevels of level 0, which every read may look at.")
	memtableBytes      = gauge("memtable_bytes", "Memory of memtables.")
	memtables          = gauge("memtables", "Memtables, including those being flushed.")
	openSnapshots      = gauge("open_snapshots", "Snapshots in use; they keep old versions on disk.")
	openIterators      = gauge("open_table_iterators", "Open iterators over tables on disk.")
	diskBytes          = gauge("disk_bytes", "Bytes of the store's files, by kind.", "kind")
	fileSystemBytes    = gauge("file_system_bytes", "Size of the file system of the data directory.")
	fileSystemWritable = gauge("file_system_writable_bytes", "Bytes that writes may still use before they are rejected: free space minus the reserve.")
	fileSystemFree     = gauge("file_system_free_bytes", "Free bytes on the file system of the data directory.")
)
