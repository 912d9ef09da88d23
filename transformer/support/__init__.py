"""What every part needs and no paper describes: files, devices, versions, terminals."""
