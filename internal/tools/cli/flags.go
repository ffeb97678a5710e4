package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// fromEnvironment marks flags that were set by a MONOTABLE_ variable.
const fromEnvironment = "monotable_environment"

// variable is the name of the environment variable for a flag.
func variable(flag *pflag.Flag) string {
	return "MONOTABLE_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
}

// FlagsFromEnvironment sets the flags that are not on the command line from MONOTABLE_ variables.
func FlagsFromEnvironment(flags *pflag.FlagSet, getenv func(string) string) error {
	var faults []error
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || flag.Name == "help" {
			return
		}
		name := variable(flag)
		value := getenv(name)
		if value == "" {
			return
		}
		if err := flags.Set(flag.Name, value); err != nil {
			faults = append(faults, flagFault(name, err))
			return
		}
		if err := flags.SetAnnotation(flag.Name, fromEnvironment, []string{name}); err != nil {
			faults = append(faults, err)
		}
	})
	return errors.Join(faults...)
}

// flagFault is the error message for a value that a flag cannot parse, with a valid example. The value was given in
// the variable name, or on the command line if name is "".
func flagFault(name string, err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	if name == "" {
		name = "--" + invalid.GetFlag().Name
	}
	switch value := invalid.GetFlag().Value; value.Type() {
	case "duration":
		return fmt.Errorf("%s %q: want a duration with a unit, like 500ms, 5s or 1h", name, invalid.GetValue())
	case "int", "int64", "uint", "uint64":
		return fmt.Errorf("%s %q: want a whole number like %s", name, invalid.GetValue(), invalid.GetFlag().DefValue)
	case "bool":
		return fmt.Errorf("%s %q: want true or false", name, invalid.GetValue())
	default:
		return fmt.Errorf("%s: %w", name, invalid.Unwrap())
	}
}

// nameVariable replaces the name of a flag in a message by the environment variable that has set it.
func nameVariable(flags *pflag.FlagSet, message string) string {
	if !strings.HasPrefix(message, "--") {
		return message
	}
	name := strings.TrimPrefix(message[:strings.IndexAny(message+" ", ": ")], "--")
	flag := flags.Lookup(name)
	if flag == nil {
		return message
	}
	if _, ok := flag.Annotations[fromEnvironment]; !ok {
		return message
	}
	return variable(flag) + strings.TrimPrefix(message, "--"+name)
}
