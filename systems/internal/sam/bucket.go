package sam

import (
	"maps"
	"slices"
)

// Bucket is a bucket of S3 for files.
type Bucket struct {
	// Variable is the environment variable with s3://NAME.
	Variable string
	// Uploads is the folder into which clients put files, at signed addresses. What is left there is removed after a day.
	Uploads string
	// Access are the actions of S3 that functions may do to folders: by operationId or name of a stream, "" for the pages.
	Access map[string]map[string][]string
}

const bucketID = "Files"

// resource is the bucket, which no stack deletes and nobody else reads. Pages of any origin may put files into it: the address is
// signed, and no bucket knows where its pages are.
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

// policies are a function's, of its name.
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
	if reads { // who may not list it is told that access is denied to a file that is not there
		statements = append(statements, of("Effect", "Allow", "Action", []string{"s3:ListBucket"}, "Resource", attribute(bucketID, "Arn")))
	}
	if statements == nil {
		return nil
	}
	return []object{of("Version", "2012-10-17", "Statement", statements)}
}
