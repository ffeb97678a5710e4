package run

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/spf13/pflag"

	"github.com/monotable/monotable/systems/internal/lambdahttp"
	"github.com/monotable/monotable/systems/internal/system"
)

// Lambda is the main function of a system's Lambda binary. The environment configures it, all functions of the system are the
// same binary, and a failed start is reported by the exit status.
func Lambda(s system.System) {
	handler, err := NewLambda(context.Background(), s, Environment{Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", s.Name, err)
		os.Exit(1)
	}
	lambda.Start(handler)
}

// NewLambda opens a system for Lambda. Its paths have no prefix, because the API has its own host.
func NewLambda(ctx context.Context, s system.System, env Environment) (*lambdahttp.Handler, error) {
	var c Config
	flags := pflag.NewFlagSet(s.Name, pflag.ContinueOnError)
	c.Register(flags)
	c.LogFormat = "json"
	if err := FlagsFromEnvironment(flags, env.Getenv); err != nil {
		return nil, err
	}
	if err := c.checkKept(flags); err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	logger, err := NewLogger(env.Stdout, c.LogLevel, c.LogFormat)
	if err != nil {
		return nil, err
	}
	database, err := OpenDatabase(ctx, &c, env.Getenv, logger)
	if err != nil {
		return nil, err
	}
	key, _, err := c.cursorKey(env.Getenv)
	if err != nil {
		return nil, err
	}
	access, err := c.access(s.Name, env.Getenv, "")
	if err != nil {
		return nil, err
	}
	host, err := NewHost(ctx, Options{
		Database: database, CursorKey: key, Access: map[string]Access{s.Name: access}, Stage: c.Stage, CreateTables: c.CreateTables,
		Logger: logger, Origins: c.Origins, Proxies: c.Proxies, Timeout: c.Timeout, Rate: c.Rate, Getenv: env.Getenv, AtRoot: true,
	}, s)
	if err != nil {
		return nil, err
	}
	service := host.Service(s.Name)
	return lambdahttp.New(host.Mux(), service.Streams, service.Schedules...).Redriving(database.Streams), nil
}
