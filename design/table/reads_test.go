package table_test

import "github.com/monotable/monotable/design/table"

// The reads of the market.

func (m market) orderByID() *table.Read {
	return &table.Read{Pattern: "OrderByID", Entity: m.order, Key: m.order.Key, By: []string{"orderId"}, Owner: "userId", Consistent: true}
}

func (m market) userByEmail() *table.Read {
	return &table.Read{
		Pattern: "UserByEmail", Entity: m.user, Key: m.user.Markers[0].Key, By: []string{"email"},
		Place: table.Place{Kind: table.MarkerPlace, Marker: "Email"},
	}
}

// ordersOf are a user's orders in a time range, newest first.
func (m market) ordersOf() *table.Read {
	return &table.Read{
		Pattern: "OrdersOf", Entity: m.order, Many: true, Place: table.Place{Kind: table.CopyPlace, Copy: "byUser"},
		By: []string{"userId"}, Range: "createdAt", Reverse: true, Consistent: true, Page: 4,
		PK: keys("PK:S", "USER#{userId}"), SK: []table.SortCondition{sortBy("SK:S", table.Between, "ORDER#", "{createdAt}", true)}, Sort: sorted("SK:S"),
		Fields: []string{"orderId", "userId", "createdAt", "total", "status"},
	}
}

// wholeOrdersOf are the same with all fields, which the copy lacks.
func (m market) wholeOrdersOf() *table.Read {
	r := m.ordersOf()
	r.Pattern, r.Hydrate, r.Fields = "WholeOrdersOf", true, nil
	return r
}

// openOrders are a region's orders, of which the index only has keys.
func (m market) openOrders() *table.Read {
	return &table.Read{
		Pattern: "OpenOrders", Entity: m.order, Many: true, Place: table.Place{Kind: table.EntryPlace, Index: "Open"}, By: []string{"region"}, Hydrate: true,
		PK: keys("OpenPK:S", "OPEN#{region}"), Sort: sorted("OpenSK:S"), Page: 3,
	}
}

// feed is all orders, from four shards.
func (m market) feed(reverse bool) *table.Read {
	return &table.Read{
		Pattern: "Feed", Entity: m.order, Many: true, Place: table.Place{Kind: table.EntryPlace, Index: "Feed"}, Range: "createdAt",
		PK: keys("FeedPK:S", "FEED#{orderId|shard(4)}"), Sort: sorted("FeedSK:S"), Reverse: reverse, Page: 5,
		SK: []table.SortCondition{sortBy("FeedSK:S", table.Between, "", "{createdAt}", true)},
	}
}

// spread is all orders by total, from twelve shards.
func (m market) spread(reverse bool) *table.Read {
	return &table.Read{
		Pattern: "Spread", Entity: m.order, Many: true, Place: table.Place{Kind: table.EntryPlace, Index: "Spread"}, Reverse: reverse,
		PK: keys("SpreadPK:S", "{orderId|shard(12)|pad(2)}"), Sort: sorted("total:N"),
	}
}

// byTotal are a region's orders with a status, within a range of totals: from the index with
// several attributes.
func (m market) byTotal() *table.Read {
	return &table.Read{
		Pattern: "ByTotal", Entity: m.order, Many: true, Place: table.Place{Kind: table.EntryPlace, Index: "Region"},
		By: []string{"region", "status"}, Range: "total", PK: plain("region:S"),
		SK: []table.SortCondition{
			sortBy("status:S", table.Equal, "{status}", "", false), sortBy("total:N", table.Between, "", "{total}", false),
		},
		Sort: sorted("status:S", "total:N", "orderId:S"),
	}
}

func (m market) byWeight() *table.Read {
	return &table.Read{
		Pattern: "ByWeight", Entity: m.order, Many: true, Place: table.Place{Kind: table.EntryPlace, Index: "Weight"}, By: []string{"status"}, Range: "weight",
		PK: plain("status:S"), SK: []table.SortCondition{sortBy("weight:N", table.Between, "", "{weight}", false)}, Sort: sorted("weight:N"), Page: 2,
	}
}

func (m market) byDigest() *table.Read {
	return &table.Read{
		Pattern: "ByDigest", Entity: m.order, Many: true, Place: table.Place{Kind: table.EntryPlace, Index: "Digest"}, By: []string{"region"}, Range: "digest",
		PK: plain("region:S"), SK: []table.SortCondition{sortBy("digest:B", table.Between, "", "{digest}", false)}, Sort: sorted("digest:B"),
	}
}

func (m market) byName() *table.Read {
	return &table.Read{
		Pattern: "ByName", Entity: m.product, Many: true, Place: table.Place{Kind: table.EntryPlace, Index: "Name"}, Prefix: "name",
		PK: keys("NamePK:S", "CATALOG"), SK: []table.SortCondition{sortBy("NameSK:S", table.BeginsWith, "", "{name|fold}", true)}, Sort: sorted("NameSK:S"),
	}
}

// byNameRange is byName with bounds.
func (m market) byNameRange() *table.Read {
	r := m.byName()
	r.Pattern, r.Prefix, r.Range, r.SK[0].Comparison = "ByNameRange", "", "name", table.Between
	return r
}

// byLabel is by the unfolded name, with which the key ends.
func (m market) byLabel() *table.Read {
	return &table.Read{
		Pattern: "ByLabel", Entity: m.product, Many: true, Place: table.Place{Kind: table.EntryPlace, Index: "Label"}, Range: "name",
		PK: keys("LabelPK:S", "LABELS"), SK: []table.SortCondition{sortBy("LabelSK:S", table.Between, "L", "{name}", false)}, Sort: sorted("LabelSK:S"),
	}
}

// byPrice are a category's, dearest first.
func (m market) byPrice() *table.Read {
	return &table.Read{
		Pattern: "ByPrice", Entity: m.product, Many: true, Place: table.Place{Kind: table.EntryPlace, Index: "Price"},
		By: []string{"category"}, Range: "price", PK: keys("PricePK:S", "CATEGORY#{category}"),
		SK: []table.SortCondition{sortBy("PriceSK:S", table.Between, "", "{price|desc(6)}", true)}, Sort: sorted("PriceSK:S"),
	}
}
