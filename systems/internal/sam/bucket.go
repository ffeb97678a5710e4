package sam

import (
	"maps"
	"slices"
)

// Bucket is an S3 bucket for files.
type Bucket struct {
	// Variable is the environment variable for s3://NAME.
	Variable string
	// Uploads is the folder into which clients upload at signed addresses. Its files are deleted after a day.
	Uploads string
	// Access is what functions may do in folders: S3 actions by operationId or stream name, "" for the pages.
	Access map[string]map[string][]string
}

const bucketID = "Files"

// resource returns the bucket. Stacks do not delete it, and it is not public. Pages of any origin may upload, because the address
// is signed, and a bucket cannot know the pages' origin.
func (b *Bucket) resource() object {
	if b == nil {
		return nil
	}
	return of(bucketID, of("Type", "AWS::S3::Bucket", "DeletionPolicy", "Retain", "UpdateReplacePolicy", "Retain", "Properties", of(
		"PublicAccessBlockConfiguration", of("BlockPublicAcls", true, "BlockPublicPolicy", true, "IgnorePublicAcls", true, "RestrictPublicBuckets", true),
		"OwnershipControls", of("Rules", []object{of("ObjectOwnership", "BucketOwnerEnforced")}),
		"CorsConfiguration", of("CorsRules", []object{of("AllowedMethods", []string{"PUT"}, "AllowedOrigins", []string{"*"}, "AllowedHeaders", []string{"*"}, "MaxAge", 600)}),
		"LifecycleConfiguration", of("Rules", []object{of("Status", "Enabled", "Prefix", b.Uploads+"/", "ExpirationInDays", 1)}),
	)))
}

// policies returns a function's policies.
func (b *Bucket) policies(function string) []object {
	if b == nil {
		return nil
	}
	var statements []object
	reads := false
	for _, folder := range slices.Sorted(maps.Keys(b.Access[function])) {
		actions := b.Access[function][folder]
		reads = reads || slices.Contains(actions, "s3:GetObject")
		statements = append(statements, of("Effect", "Allow", "Action", actions, "Resource", sub("${"+bucketID+".Arn}/"+folder+"/*")))
	}
	if reads { // without list permission a missing file is reported as access denied
		statements = append(statements, of("Effect", "Allow", "Action", []string{"s3:ListBucket"}, "Resource", attribute(bucketID, "Arn")))
	}
	if statements == nil {
		return nil
	}
	return []object{of("Version", "2012-10-17", "Statement", statements)}
}
