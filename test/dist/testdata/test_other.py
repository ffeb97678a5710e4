def test_another_module_has_an_empty_database(dynamodb):
    assert dynamodb.list_tables()["TableNames"] == []
