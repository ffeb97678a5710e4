package engine_test

import (
	"context"
	"regexp"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
)

var backupName = regexp.MustCompile(`{{(.*?)}}`)

// nameBackups replaces the names of backups with their ARNs.
func (s *script) nameBackups(ctx context.Context, input string) string {
	return backupName.ReplaceAllStringFunc(input, func(m string) string {
		name := backupName.FindStringSubmatch(m)[1]
		if kind, is := strings.CutPrefix(name, "last "); is {
			return s.lastTransfer(ctx, kind)
		}
		out, err := s.engine.ListBackups(ctx, &api.ListBackupsInput{BackupType: new("ALL")})
		if err != nil {
			return err.Error()
		}
		arn := "no backup " + name
		for _, b := range out.BackupSummaries {
			if *b.BackupName == name {
				arn = *b.BackupArn
			}
		}
		return arn
	})
}

func (s *script) keptSnapshots(ctx context.Context) (string, error) {
	kept, err := s.store.Kept(ctx)
	var b strings.Builder
	for _, k := range kept {
		b.WriteString(k.Name + "\n")
	}
	return b.String(), err
}
