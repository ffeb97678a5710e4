package expr

// Kind is the kind of an Error.
type Kind uint8

// The kinds of errors in a text by itself, in the order in which they are reported.
const (
	// KindNone is no error.
	KindNone Kind = iota
	KindEmpty
	KindTooLong
	KindSyntax
	KindRedundantParentheses
	KindTooManyOperators
	KindUnknownFunction
	KindFunctionNotInUpdate
	KindFunctionNotInCondition
	KindFunctionMisplaced
	KindOperandCount
	KindOperandNoPath
	KindInTooLong
	KindSectionTwice
	KindReserved
	KindPathTooDeep
	KindIndexRange
)

// The kinds that depend on names and values.
const (
	KindUndefinedName Kind = KindIndexRange + 1 + iota
	KindUndefinedValue
	KindOperandType
	KindActionType
	KindTypeName
	KindNotDistinct
	KindBoundOrder
	KindBoundTypes
	KindOverlap
	KindConflict
)

// The kinds about the maps given with the expressions.
const (
	KindNamesEmpty Kind = KindConflict + 1 + iota
	KindValuesEmpty
	KindNamesAlone
	KindValuesAlone
	KindNamesKey
	KindValuesKey
	KindNamesKeyTooLong
	KindValuesKeyTooLong
	KindNameEmpty
	KindNameTooLong
	KindNamesTooLarge
	KindValuesTooLarge
	KindFaultyValue
	KindNamesUnused
	KindValuesUnused
	KindValueTooDeep
	KindMixed
)

// The kinds about key conditions.
const (
	KindKeyOperator Kind = KindMixed + 1 + iota
	KindKeyTwoNames
	KindKeyNoName
	KindKeyFirstOperand
	KindKeyNestedOperation
	KindKeyNestedAttribute
	KindKeyTwice
	KindKeyNotIndexable
	KindKeyCount
	KindSearchComparator
	KindSearchNested
)

// The kinds about the evaluation of an update.
const (
	KindMissingAttribute Kind = KindSearchNested + 1 + iota
	KindUpdatePath
	KindUpdateType
	KindLegacyUpdateType
	KindNumberOverflow
	KindNumberUnderflow
	KindNumberPrecision
	KindResultTooDeep
)

// The kinds about legacy parameters.
const (
	KindArgumentCount Kind = KindResultTooDeep + 1 + iota
	KindArgumentType
	KindArgumentTypesDiffer
	KindLegacyBoundOrder
	KindExistsWithOperator
	KindListWithoutOperator
	KindValueWithList
	KindOperatorWithoutValue
	KindExistsWithoutValue
	KindValueWithoutExists
	KindOperatorAlone
	KindOperatorForOne
	KindUpdateWithoutValue
	KindDeleteType
	KindAddType
	KindDuplicateAttribute
	KindAttributeNameEmpty
	KindFaultyArgument
	kindCount
)

// opening is the beginning of a message.
type opening uint8

const (
	openPlain      opening = iota
	openExpression         // Invalid …Expression:
	openParameter          // One or more parameter values were invalid:
)

// sentence is AWS's message for a kind. older is that of AWS's older layer, if it differs.
type sentence struct {
	opening     opening
	text, older string
}

// The table of messages: us-east-1, autumn 2026. {subject}, {near}, {operand}, {other} and {count} are the facts of an Error.
var sentences = [kindCount]sentence{
	KindEmpty:                  {opening: openExpression, text: `The expression can not be empty;`},
	KindTooLong:                {opening: openExpression, text: `Expression size has exceeded the maximum allowed size;`, older: `Expression size has exceeded the maximum allowed size; expression size: {count}`},
	KindSyntax:                 {opening: openExpression, text: `Syntax error; token: "{subject}", near: "{near}"`},
	KindRedundantParentheses:   {opening: openExpression, text: `The expression has redundant parentheses;`},
	KindTooManyOperators:       {opening: openExpression, text: `The expression contains too many operators; operator count: {count}`},
	KindUnknownFunction:        {opening: openExpression, text: `Invalid function name; function: {subject}`},
	KindFunctionNotInUpdate:    {opening: openExpression, text: `The function is not allowed in an update expression; function: {subject}`},
	KindFunctionNotInCondition: {opening: openExpression, text: `The function is not allowed in a condition expression; function: {subject}`},
	KindFunctionMisplaced:      {opening: openExpression, text: `The function is not allowed to be used this way in an expression; function: {subject}`},
	KindOperandCount:           {opening: openExpression, text: `Incorrect number of operands for operator or function; operator or function: {subject}, number of operands: {count}`},
	KindOperandNoPath:          {opening: openExpression, text: `Operator or function requires a document path; operator or function: {subject}`},
	KindInTooLong:              {opening: openExpression, text: `The IN operator is provided with too many operands; number of operands: {count}`},
	KindSectionTwice:           {opening: openExpression, text: `The "{subject}" section can only be used once in an update expression;`},
	KindReserved:               {opening: openExpression, text: `Attribute name is a reserved keyword; reserved keyword: {subject}`},
	KindPathTooDeep:            {opening: openExpression, text: `The document path has too many nesting levels; nesting levels: {count}`},
	KindIndexRange:             {opening: openExpression, text: `List index is not within the allowable range; index: [{subject}]`},

	KindUndefinedName:  {opening: openExpression, text: `An expression attribute name used in the document path is not defined; attribute name: {subject}`},
	KindUndefinedValue: {opening: openExpression, text: `An expression attribute value used in expression is not defined; attribute value: {subject}`},
	KindOperandType:    {opening: openExpression, text: `Incorrect operand type for operator or function; operator or function: {subject}, operand type: {operand}`},
	KindActionType:     {opening: openExpression, text: `Incorrect operand type for operator or function; operator: {subject}, operand type: {operand}, typeSet: ALLOWED_FOR_{subject}_OPERAND`},
	KindTypeName:       {opening: openExpression, text: `Invalid attribute type name found; type: {operand}, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}`},
	KindNotDistinct:    {opening: openExpression, text: `The first operand must be distinct from the remaining operands for this operator or function; operator: {subject}, first operand: {operand}`},
	KindBoundOrder:     {opening: openExpression, text: `The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {operand}, upper bound operand: AttributeValue: {other}`},
	KindBoundTypes:     {opening: openExpression, text: `The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {operand}, upper bound operand: AttributeValue: {other}`},
	KindOverlap:        {opening: openExpression, text: `Two document paths overlap with each other; must remove or rewrite one of these paths; path one: {operand}, path two: {other}`},
	KindConflict:       {opening: openExpression, text: `Two document paths conflict with each other; must remove or rewrite one of these paths; path one: {operand}, path two: {other}`},

	KindNamesEmpty:       {text: `ExpressionAttributeNames must not be empty`},
	KindValuesEmpty:      {text: `ExpressionAttributeValues must not be empty`},
	KindNamesAlone:       {text: `ExpressionAttributeNames can only be specified when using expressions`},
	KindValuesAlone:      {text: `ExpressionAttributeValues can only be specified when using expressions{subject}`},
	KindNamesKey:         {text: `ExpressionAttributeNames contains invalid key: Syntax error; key: "{subject}"`},
	KindValuesKey:        {text: `ExpressionAttributeValues contains invalid key: Syntax error; key: "{subject}"`},
	KindNamesKeyTooLong:  {text: `ExpressionAttributeNames contains invalid key: The key length exceeds the maximum of 255 bytes; key: "{subject}"`},
	KindValuesKeyTooLong: {text: `ExpressionAttributeValues contains invalid key: The key length exceeds the maximum of 255 bytes; key: "{subject}"`},
	KindNameEmpty:        {text: `ExpressionAttributeNames contains invalid value: Empty attribute name for key {subject}`},
	KindNameTooLong:      {text: `Attribute name is too large, must be less than 65536 bytes`},
	KindNamesTooLarge:    {text: `ExpressionAttributeNames exceeds max size`},
	KindValuesTooLarge:   {text: `ExpressionAttributeValues exceeds max size`},
	KindFaultyValue:      {text: `{near}`},
	KindNamesUnused:      {text: `Value provided in ExpressionAttributeNames unused in expressions: keys: {{subject}}`},
	KindValuesUnused:     {text: `Value provided in ExpressionAttributeValues unused in expressions: keys: {{subject}}`},
	KindValueTooDeep:     {text: tooDeep},
	KindMixed:            {text: `Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {{operand}} Expression parameters: {{subject}}`},

	KindKeyOperator:        {text: `Invalid operator used in KeyConditionExpression: {subject}`},
	KindKeyTwoNames:        {text: `Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition`},
	KindKeyNoName:          {text: `Invalid condition in KeyConditionExpression: No key attribute specified`},
	KindKeyFirstOperand:    {text: `Invalid condition in KeyConditionExpression: {subject} operator must have the key attribute as its first operand`},
	KindKeyNestedOperation: {opening: openExpression, text: `KeyConditionExpressions cannot contain nested operations`},
	KindKeyNestedAttribute: {opening: openExpression, text: `KeyConditionExpressions cannot have conditions on nested attributes`},
	KindKeyTwice:           {opening: openExpression, text: `KeyConditionExpressions must only contain one condition per key`},
	KindKeyNotIndexable:    {text: `Attempted conditional constraint is not an indexable operation`},
	KindKeyCount:           {text: `Conditions can be of length 1 or 2 only`},

	KindSearchComparator: {opening: openExpression, text: `Invalid comparator used in SearchConditionExpression`},
	KindSearchNested:     {opening: openExpression, text: `SearchConditionExpressions cannot have conditions on nested attributes`},

	KindMissingAttribute: {text: `The provided expression refers to an attribute that does not exist in the item`},
	KindUpdatePath:       {text: `The document path provided in the update expression is invalid for update`},
	KindLegacyUpdateType: {text: `Type mismatch for attribute to update`},
	KindUpdateType:       {text: `An operand in the update expression has an incorrect data type`},
	KindNumberOverflow:   {text: `Number overflow. Attempting to store a number with magnitude larger than supported range`},
	KindNumberUnderflow:  {text: `Number underflow. Attempting to store a number with magnitude smaller than supported range`},
	KindNumberPrecision:  {text: `Attempting to store more than 38 significant digits in a Number`},
	KindResultTooDeep:    {text: tooDeep},

	KindArgumentCount:        {opening: openParameter, text: `Invalid number of argument(s) for the {subject} ComparisonOperator`},
	KindArgumentType:         {opening: openParameter, text: `ComparisonOperator {subject} is not valid for {operand} AttributeValue type`},
	KindArgumentTypesDiffer:  {opening: openParameter, text: `AttributeValues inside AttributeValueList must be of same type`},
	KindLegacyBoundOrder:     {text: `The BETWEEN condition was provided a range where the lower bound is greater than the upper bound`},
	KindExistsWithOperator:   {opening: openParameter, text: `Exists and ComparisonOperator cannot be used together for Attribute: {subject}`},
	KindListWithoutOperator:  {opening: openParameter, text: `AttributeValueList can only be used with a ComparisonOperator for Attribute: {subject}`},
	KindValueWithList:        {opening: openParameter, text: `Value and AttributeValueList cannot be used together for Attribute: {subject}`},
	KindOperatorWithoutValue: {opening: openParameter, text: `Value or AttributeValueList must be used with ComparisonOperator: {operand} for Attribute: {subject}`},
	KindExistsWithoutValue:   {opening: openParameter, text: `Value must be provided when Exists is {operand} for Attribute: {subject}`},
	KindValueWithoutExists:   {opening: openParameter, text: `Value cannot be used when Exists is false for Attribute: {subject}`},
	KindOperatorAlone:        {text: `ConditionalOperator cannot be used without Filter or Expected`},
	KindOperatorForOne:       {text: `ConditionalOperator can only be used when Filter or Expected has two or more elements`},
	KindUpdateWithoutValue:   {opening: openParameter, text: `Only DELETE action is allowed when no attribute value is specified`},
	KindDeleteType:           {opening: openParameter, text: `DELETE action with value is not supported for the type {operand}`},
	KindAddType:              {opening: openParameter, text: `ADD action is not supported for the type {operand}`},
	KindDuplicateAttribute:   {opening: openParameter, text: `Duplicate value in attribute name: {subject}`},
	KindAttributeNameEmpty:   {text: `Empty attribute name`},
	KindFaultyArgument:       {text: `{near}`},
}

const tooDeep = `Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit`
