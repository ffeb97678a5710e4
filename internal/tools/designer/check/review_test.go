package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/tools/designer/check"
)

// wanted is a finding of a manual review of a documented design: rule, subject and, to tell similar findings apart, part
// of the message or counterexample.
type wanted struct{ rule, subject, part string }

// review has the defects found in the manual review of the five systems, as far as a design shows them.
var review = map[string][]wanted{
	"appcore.documented": {
		{"ST105", "LatestTransactions", "no order"},                    // ties of GSI1SK = createdAt
		{"ST202", "LatestTransactions", "TxByUser"},                    // the pair can disagree
		{"ST302", "TxByUser.GSI1+TxLookup.GSI1", "1600 write"},         // heat of GLOBAL_TX at 800 a second
		{"ST303", "Notification", "never deleted"},                     // AP3: grows forever
		{"ST304", "LatestTransactions", ""},                            // the feed shows every user's transactions to every user
		{"ST305", "TransactionByID", ""},                               // AP2: one forgotten handler leaks
		{"ST307", "TxByUser.GSI1+TxLookup.GSI1", ""},                   // the sort key is monotonic
		{"ST401", "TxLookup+TxByUser", ""},                             // AP4: 10 entries are 5 transactions
		{"ST503", "TxLookup", "status"},                                // PENDING and COMPLETED at once
		{"ST514", "CreateTransaction", "not include userId"},           // B replays A's key
		{"ST514", "CreateTransaction", "never expire"},                 // no TTL
		{"ST514", "CreateTransaction", "nothing of the request"},       // no fingerprint
		{"ST404", "AppCore.GSI1", ""},                                  // projection ALL
		{"ST301", "TxByUser.GSI1+TxLookup.GSI1", "has only one value"}, //
	},
	"catfecito.documented": {
		{"ST501", "User+UserByEmail", "email"},             // 1.2: a race
		{"ST208", "UserByEmail", ""},                       // and eventual
		{"ST106", "User.GSI2", ""},                         // and by case
		{"ST408", "User.GSI2", "password"},                 // the hash is projected
		{"ST201", "ActiveProducts", ""},                    // 2.1: Scan
		{"ST203", "ProductsByCategory", "isActive"},        // 2.2
		{"ST201", "SearchProducts", "not by prefix"},       // 2.3: ValidationException
		{"ST201", "Categories", ""},                        // 3.1: Scan
		{"ST209", "Cart", ""},                              // 4.1: bound it
		{"ST502", "AddToCart", ""},                         // 4.2: overwrites the quantity
		{"ST404", "catfecito.GSI1", "AddToCart"},           // every cart write pays an entry
		{"ST504", "PlaceOrder", "33 lines"},                // 5.1: n ≤ 32
		{"ST502", "PlaceOrder", "Order"},                   //
		{"ST507", "PlaceOrder", "second Order"},            // a retry is a second order
		{"ST306", "PlaceOrder", "Product"},                 // the popular product
		{"ST204", "UserOrders", "createdAt desc"},          // 5.2: random order
		{"ST503", "UserOrder", "status"},                   // in two items by hand
		{"ST210", "OrderWithItems", ""},                    // 5.3: the header comes last
		{"ST212", "UserOrder.GSI1", ""},                    // GSI1 ORDER#: useless
		{"ST503", "OrderItem", "productName repeats name"}, // an undeclared snapshot
	},
	"portfolio.documented": {
		{"ST110", "Like.GSI1+User.GSI1", "USER#a@b"},     // USER#{email} is in the namespace of USER#{userId}
		{"ST501", "User+UserByEmail", "email"},           // not unique
		{"ST106", "User.GSI1", ""},                       // case
		{"ST301", "Post.GSI1", "3 values"},               // posts by status
		{"ST105", "PostsByStatus", "no order"},           // sort key without tie-break
		{"ST105", "PostsByCategory", "no order"},         //
		{"ST203", "PostsByCategory", "status"},           // drafts are read, too
		{"ST204", "CommentsOfPost", ""},                  // not chronological
		{"ST213", "PostWithComments", "Like"},            // must page through every like
		{"ST210", "PostWithComments", ""},                //
		{"ST501", "Category+CategoryBySlug", "slug"},     // not unique
		{"ST406", "Notification.GSI1", ""},               // repeats the base partition
		{"ST303", "Notification", "grows forever"},       // TTL
		{"ST105", "Bookmarks", "end the sort key with"},  // add #{postId}
		{"ST208", "CategoryBySlug", "Category.GSI1"},     //
		{"ST212", "Notification.GSI1", "no read uses"},   //
		{"ST105", "LikesOfUser", "several items can"},    //
		{"ST105", "CommentsOfUser", "several items can"}, //
	},
	"transporteapp.documented": {
		{"ST105", "ViajesDeUsuario", "uuid"},                 // uuid order
		{"ST602", "ViajesDeUsuario", ""},                     // 3–4 KB items for a list
		{"ST503", "Viaje", "cartaPorteStatus"},               // copied by hand
		{"ST503", "Viaje", "cartaPorteFolio"},                //
		{"ST304", "ConductoresDisponibles", ""},              // returns every company's drivers
		{"ST301", "Conductor.GSI1", "3 values"},              // low cardinality
		{"ST304", "ViajesEnCurso", ""},                       //
		{"ST202", "ViajesEnCurso", "STATUS#borrador"},        // trips and cartas
		{"ST301", "Viaje.GSI1+CartaPorte.GSI1", ""},          //
		{"ST304", "ViajesPorFecha", ""},                      // by date
		{"ST301", "Viaje.GSI2", "one day"},                   // hot
		{"ST304", "CartaDeViaje", ""},                        // tenant protected only by an ID that is hard to guess
		{"ST201", "CartaPorFolio", ""},                       // unsolved
		{"ST501", "CartaPorte+CartaPorFolio", "folio"},       // and not unique
		{"ST510", "CrearViajeConCarta", "limiteCartas"},      // limits never checked
		{"ST509", "CrearViajeConCarta", "monthlyUsed"},       // ValidationException if the map is absent
		{"ST502", "CrearViajeConCarta", "CartaPorte"},        // unconditional
		{"ST507", "CrearViajeConCarta", "second Viaje"},      //
		{"ST604", "RegistrarPosicion", ""},                   // each ping rewrites the trip
		{"ST404", "TransporteApp.GSI2", "RegistrarPosicion"}, // and its entries
		{"ST403", "TransporteApp.GSI1", "data.nombre"},       // silently empty
		{"ST403", "TransporteApp.GSI1", "data.estado"},       //
		{"ST109", "Conductor.GSI1", "CONDUCTOR#"},            // formats
		{"ST601", "CartaPorte", ""},                          // a CFDI with thousands of goods
		{"ST603", "CartaPorte", "mercancias"},                //
		{"ST105", "Ubicaciones", "orden"},                    // UBICACION#10 before #2
		{"ST702", "Session", ""},                             //
	},
	"trinity.documented": {
		{"ST602", "RoomByID", ""},                           // reads the whole list of candidates
		{"ST603", "Room", "candidates"},                     //
		{"ST501", "Room+RoomByCode", "code"},                // a race
		{"ST208", "RoomByCode", ""},                         // asynchronous
		{"ST702", "RoomByCode", ""},                         // expired rooms are visible
		{"ST201", "RoomsOfHost", ""},                        // Scan
		{"ST202", "VotesOfUserInRoom", "a#JOINED"},          // also returns the JOINED row
		{"ST202", "VotesOfRoom", "Participation"},           //
		{"ST201", "RoomsOfUser", ""},                        // Scan
		{"ST201", "MatchesOfUser", ""},                      // Scan
		{"ST402", "Match.user-index", "matchedUsers"},       // an impossible index
		{"ST504", "CastVotes", "101 lines"},                 //
		{"ST511", "CastVotes", "UnprocessedItems"},          // BatchWrite
		{"ST502", "CastVotes", ""},                          // no conditions
		{"ST703", "Vote", "Room"},                           // orphaned forever
		{"ST703", "Match", "Room"},                          //
		{"ST703", "Participation", "stays forever"},         //
		{"ST502", "FoundMatch", "overwrites"},               // a match twice
		{"ST603", "Match", "matchedUsers"},                  //
		{"ST507", "CreateRoom", "creates a second Room"},    //
		{"ST404", "trinity-rooms.code-index", "CreateRoom"}, // 21 KB twice
	},
}

// TestFindsDefectsOfManualReview checks that every defect found in the review is reported.
func TestFindsDefectsOfManualReview(t *testing.T) {
	files := designs(t)
	for _, name := range sorted(review) {
		all := check.Check(load(t, files[name]))
		for _, w := range review[name] {
			if !slices.ContainsFunc(all, func(f check.Finding) bool {
				text := f.Message + "\n" + f.Witness + "\n" + f.Fix
				return f.Rule == w.rule && f.Subject == w.subject && strings.Contains(text, w.part) && f.Accepted == ""
			}) {
				t.Errorf("%s: %s of %s (%s) is not reported", name, w.rule, w.subject, w.part)
			}
		}
	}
}
