# Writes the tables of shared-local-instance.db: python3 fill.py http://127.0.0.1:8000, at DynamoDB Local 3.3.1 with -sharedDb -dbPath .
import boto3,sys
d=boto3.client('dynamodb',endpoint_url=sys.argv[1],region_name='us-east-1',aws_access_key_id='local',aws_secret_access_key='local')
d.create_table(TableName='shop',BillingMode='PAY_PER_REQUEST',
 AttributeDefinitions=[{'AttributeName':n,'AttributeType':t} for n,t in [('PK','S'),('SK','S'),('G','S'),('GN','N'),('L','B')]],
 KeySchema=[{'AttributeName':'PK','KeyType':'HASH'},{'AttributeName':'SK','KeyType':'RANGE'}],
 GlobalSecondaryIndexes=[{'IndexName':'byG','KeySchema':[{'AttributeName':'G','KeyType':'HASH'},{'AttributeName':'GN','KeyType':'RANGE'}],'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':['s','n']}},
  {'IndexName':'bySK','KeySchema':[{'AttributeName':'SK','KeyType':'HASH'}],'Projection':{'ProjectionType':'KEYS_ONLY'}}],
 LocalSecondaryIndexes=[{'IndexName':'byL','KeySchema':[{'AttributeName':'PK','KeyType':'HASH'},{'AttributeName':'L','KeyType':'RANGE'}],'Projection':{'ProjectionType':'ALL'}}],
 StreamSpecification={'StreamEnabled':True,'StreamViewType':'NEW_AND_OLD_IMAGES'}, Tags=[{'Key':'team','Value':'ops'}])
d.update_time_to_live(TableName='shop',TimeToLiveSpecification={'Enabled':True,'AttributeName':'ttl'})
d.create_table(TableName='num.bin-ary_3',ProvisionedThroughput={'ReadCapacityUnits':7,'WriteCapacityUnits':9},
 AttributeDefinitions=[{'AttributeName':'id','AttributeType':'N'},{'AttributeName':'b','AttributeType':'B'}],
 KeySchema=[{'AttributeName':'id','KeyType':'HASH'},{'AttributeName':'b','KeyType':'RANGE'}],DeletionProtectionEnabled=True)
d.create_table(TableName='Bin',BillingMode='PAY_PER_REQUEST',AttributeDefinitions=[{'AttributeName':'h','AttributeType':'B'}],KeySchema=[{'AttributeName':'h','KeyType':'HASH'}])
d.create_table(TableName='empty',BillingMode='PAY_PER_REQUEST',AttributeDefinitions=[{'AttributeName':'h','AttributeType':'S'}],KeySchema=[{'AttributeName':'h','KeyType':'HASH'}])
full={'s':{'S':'héllo "q" \\ \n 日本 😀'},'e':{'S':''},'n':{'N':'-123.4500'},'big':{'N':'12345678901234567890123456789012345678'},'exp':{'N':'1E+125'},'tiny':{'N':'-1.5E-130'},'b':{'B':bytes(range(256))},'be':{'B':b''},
 't':{'BOOL':True},'f':{'BOOL':False},'nul':{'NULL':True},'ss':{'SS':['a','b','ü']},'ns':{'NS':['1','-2.5','1E10']},'bs':{'BS':[b'\x00',b'\xff\xfe']},
 'l':{'L':[{'S':'x'},{'N':'1'},{'L':[]},{'M':{}},{'NULL':True},{'B':b'z'},{'SS':['q']}]},'m':{'M':{'a':{'M':{'b':{'L':[{'BOOL':False}]}}},'S':{'S':'name is S'}}},
 'ttl':{'N':'4102444800'}}
for i in range(30):
  it=dict(full); it.update({'PK':{'S':'USER#%d'%(i%5)},'SK':{'S':'ORDER#%03d'%i},'i':{'N':str(i)}})
  if i%2: it['G']={'S':'g%d'%i}; it['GN']={'N':str(i*1.5)}
  if i%3==0: it['L']={'B':bytes([i])}
  d.put_item(TableName='shop',Item=it)
for n,b in [('0',b'\x00'),('-1.50',b'\xff'),('1E+20',b'a'),('12345678901234567890123456789012345678',b'a\x00b'),('0.001',b'\x01')]:
  d.put_item(TableName='num.bin-ary_3',Item={'id':{'N':n},'b':{'B':b},'x':{'S':n}})
d.put_item(TableName='Bin',Item={'h':{'B':b'\x00\x01'}})
d.put_item(TableName='Bin',Item={'h':{'B':b'\xff'},'blob':{'S':'x'*5000}})
