// Command own-partition is a web page that calls DynamoDB directly and can only reach its user's items.
//
// It serves three things at one address that would usually be separate: the database, an identity provider (Cognito, Auth0, …), and the
// page's files. There is no application server between the page and the database: iam.yaml defines the page's permissions.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8090", "address to listen at")
	pages := flag.String("page", "examples/own-partition/page", "directory of the page; npm ci && npm run build there makes its script")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr, *pages, os.Stdout); err != nil {
		slog.Error("stopped", "error", err)
		os.Exit(1) //nolint:gocritic // nothing left to clean up
	}
}

func run(ctx context.Context, addr, pages string, out io.Writer) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	site, err := open(ctx, "http://"+l.Addr().String(), pages)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if _, err := fmt.Fprintf(out, "http://%s\n", l.Addr()); err != nil {
		return errors.Join(err, site.Close())
	}
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(err, site.Close())
	}
	return site.Close()
}

// site is everything served at the address.
type site struct {
	http.Handler

	db  *monotable.DB
	dir string
}

//go:embed iam.yaml
var identities string

// open creates the site of an address: POST / is DynamoDB and STS, /issuer/ the identity provider, everything else the page.
func open(ctx context.Context, address, pages string) (*site, error) {
	if _, err := os.Stat(filepath.Join(pages, "dist", "page.js")); err != nil {
		return nil, fmt.Errorf("the page's script is not built: npm ci && npm run build in %s (%w)", pages, err)
	}
	provider, err := newIssuer(address + "/issuer")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "own-partition")
	if err != nil {
		return nil, err
	}
	s := &site{dir: dir}
	if err := s.openDatabase(ctx, provider.url); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("POST /{$}", s.db.Handler())
	mux.Handle("/issuer/", http.StripPrefix("/issuer", provider))
	for path, name := range map[string]string{"/{$}": "index.html", "/style.css": "style.css", "/page.js": "dist/page.js"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, filepath.Join(pages, name)) })
	}
	s.Handler = mux
	return s, nil
}

func (s *site) openDatabase(ctx context.Context, issuer string) (err error) {
	file := filepath.Join(s.dir, "iam.yaml")
	_, name, _ := strings.Cut(issuer, "://")
	if err := os.WriteFile(file, []byte(strings.NewReplacer("ISSUER", issuer, "NAME", name).Replace(identities)), 0o600); err != nil {
		return err
	}
	s.db, err = monotable.OpenMemory(&monotable.Options{Auth: &monotable.Auth{Required: true, File: file}})
	if err != nil {
		return err
	}
	// The program's own clients act as the owner and need no permissions.
	client, table := s.db.Client(), "Notes"
	_, err = client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: new("owner"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: new("at"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: new("owner"), KeyType: types.KeyTypeHash}, {AttributeName: new("at"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		return err
	}
	for owner, text := range map[string]string{"ann": "Water the plants", "bob": "Nobody else reads this"} {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: map[string]types.AttributeValue{
			"owner": &types.AttributeValueMemberS{Value: owner}, "at": &types.AttributeValueMemberS{Value: "2026-01-01T08:00:00.000Z"},
			"text": &types.AttributeValueMemberS{Value: text},
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// Close closes the database; its data is lost.
func (s *site) Close() (err error) {
	if s.db != nil {
		err = s.db.Close()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
