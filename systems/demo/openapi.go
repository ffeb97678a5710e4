package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/system"
)

const (
	documentMode = 0o644
	folderMode   = 0o755
)

// newOpenAPI is the command that writes the systems' OpenAPI documents, from which clients are generated.
func newOpenAPI(env Environment, systems []system.System) *cobra.Command {
	var name, out string
	cmd := &cobra.Command{
		Use:   "openapi --system NAME | --out DIR",
		Short: "Write the OpenAPI documents of the systems",
		Long:  "Write the OpenAPI document of one system to standard output, or of all to DIR/NAME/openapi.json. Nothing needs to run.",
		Example: `  demo openapi --system catfecito
  demo openapi --out web/clients`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (name == "") == (out == "") {
				return errors.New("give --system or --out")
			}
			if name != "" {
				s, err := chosenOne(env, systems, name)
				if err != nil {
					return err
				}
				text, err := document(cmd.Context(), s)
				if err != nil {
					return err
				}
				_, err = env.Stdout.Write(text)
				return err
			}
			for _, s := range systems {
				if err := writeDocument(cmd.Context(), s, filepath.Join(out, s.Name)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "system", "", "name of the system (demo systems lists them)")
	cmd.Flags().StringVar(&out, "out", "", "the directory to write all documents to")
	return cmd
}

func writeDocument(ctx context.Context, s system.System, dir string) error {
	text, err := document(ctx, s)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(dir, folderMode), os.WriteFile(filepath.Join(dir, "openapi.json"), text, documentMode))
}

// document returns the document that a system would serve, from a database in memory.
func document(ctx context.Context, s system.System) (text []byte, err error) {
	database, err := run.OpenDatabase(ctx, &run.Config{Memory: true, Region: "us-east-1", Durability: "none"}, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	issuer, err := auth.NewIssuer(s.Name, "http://document.invalid", nil) // nothing calls it
	if err != nil {
		return nil, err
	}
	host, err := run.NewHost(ctx, run.Options{Database: database, CursorKey: make([]byte, cursorKeyBytes), Access: run.SignedHere(issuer)}, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "/"+s.Name+"/openapi.json", http.NoBody)
	if err != nil {
		return nil, err
	}
	response := httptest.NewRecorder()
	host.Handler().ServeHTTP(response, request)
	if response.Code != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", s.Name, response.Code)
	}
	compact, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, compact, "", " "); err != nil {
		return nil, err
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}
