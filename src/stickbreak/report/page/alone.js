// The page of the map alone.
const documentMap = startDocumentMap(data.document_map, true);
