package api

// PutResourcePolicyInput attaches a policy to a table or a stream.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutResourcePolicy.html
type PutResourcePolicyInput struct {
	ResourceArn *string `required:"true" min:"1" max:"1283"`
	// Policy is a JSON document of at most 20 KB.
	Policy *string `required:"true"`
	// ExpectedRevisionId is the revision that the policy must have, or NO_POLICY.
	ExpectedRevisionId              *string `min:"1" max:"255"` //nolint:revive // the API spells it so
	ConfirmRemoveSelfResourceAccess *bool
}

// PutResourcePolicyOutput has the revision that the policy now has.
type PutResourcePolicyOutput struct {
	RevisionId *string //nolint:revive // the API spells it so
}

// GetResourcePolicyInput asks for the policy of a table or a stream.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_GetResourcePolicy.html
type GetResourcePolicyInput struct {
	ResourceArn *string `required:"true" min:"1" max:"1283"`
}

// GetResourcePolicyOutput has the policy as it was attached.
type GetResourcePolicyOutput struct {
	Policy     *string
	RevisionId *string //nolint:revive // the API spells it so
}

// DeleteResourcePolicyInput removes the policy of a table or a stream.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteResourcePolicy.html
type DeleteResourcePolicyInput struct {
	ResourceArn        *string `required:"true" min:"1" max:"1283"`
	ExpectedRevisionId *string `min:"1" max:"255"` //nolint:revive // the API spells it so
}

// DeleteResourcePolicyOutput has the revision of the removed policy, if there was one.
type DeleteResourcePolicyOutput struct {
	RevisionId *string //nolint:revive // the API spells it so
}
