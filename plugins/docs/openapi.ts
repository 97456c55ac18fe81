import type { Service } from '#core/gateway/host/host.ts';
import { type Dialect, dialectNames, dialects } from '#core/platform/errors/dialects.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { type DescribedApi, type DescribedEndpoint, type DescribedHeader, filterHeaders } from './describe-api.ts';

/** OpenAPI 3.1. `model` is used in the examples. */
export function createOpenApiDocument(api: DescribedApi, { name, baseUrl }: Service, model: string): JsonObject {
  const credentials = api.headers.filter(({ isCredential }) => isCredential === true);
  const schemes = Object.fromEntries(
    credentials.map((header) => [getSchemeName(header), createSecurityScheme(header)]),
  );
  return dropUndefined({
    openapi: '3.1.1',
    info: { title: `${name} API`, version: '1', description: api.limits.map((limit) => `- ${limit}`).join('\n') },
    servers: [{ url: baseUrl }],
    security: credentials.map((header) => ({ [getSchemeName(header)]: [] })),
    tags: [...new Set(api.endpoints.map(getTag))].map((tag) => ({ name: tag })),
    paths: createPaths(api, model),
    components: {
      securitySchemes: schemes,
      schemas: Object.fromEntries(dialectNames.map((dialect) => [`${dialect}_error`, dialects[dialect].errorSchema])),
      headers: Object.fromEntries(
        filterPlainHeaders(api, 'response').map((header) => [header.name, createHeader(header)]),
      ),
    },
  });
}

function dropUndefined(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function filterPlainHeaders(api: DescribedApi, side: DescribedHeader['in'], dialect?: Dialect): DescribedHeader[] {
  return filterHeaders(api, side).filter(
    (header) => header.isCredential !== true && (dialect === undefined || (header.dialect ?? dialect) === dialect),
  );
}

function getSchemeName({ name }: DescribedHeader): string {
  return name === 'Authorization' ? 'bearer' : name;
}

function createSecurityScheme({ name, text: description }: DescribedHeader): object {
  return name === 'Authorization'
    ? { type: 'http', scheme: 'bearer', description }
    : { type: 'apiKey', in: 'header', name, description };
}

function createHeader({ text, example }: DescribedHeader): object {
  return { description: text, schema: { type: 'string' }, example };
}

function getTag({ endpoint }: DescribedEndpoint): string {
  return endpoint.format?.name ?? 'account';
}

function createPaths(api: DescribedApi, model: string): object {
  const paths: Record<string, Record<string, object>> = {};
  const names = new Map<string, number>();
  for (const entry of api.endpoints) {
    const count = (names.get(entry.endpoint.name) ?? 0) + 1;
    names.set(entry.endpoint.name, count);
    const id = count === 1 ? entry.endpoint.name : `${entry.endpoint.name}_${count}`;
    (paths[entry.path] ??= {})[entry.endpoint.method.toLowerCase()] = createOperation(api, entry, id, model);
  }
  return paths;
}

function createOperation(api: DescribedApi, entry: DescribedEndpoint, operationId: string, model: string): object {
  const { endpoint, documentation, summary } = entry;
  const { reference } = documentation;
  return {
    operationId,
    summary,
    tags: [getTag(entry)],
    ...(reference !== undefined && { externalDocs: { url: reference } }),
    ...(endpoint.isPublic === true && { security: [] }),
    parameters: [...createPathParameters(entry), ...createQueryParameters(entry), ...createRequestHeaders(api, entry)],
    requestBody: createRequestBody(entry, model),
    responses: createResponses(api, entry),
  };
}

function createPathParameters({ path }: DescribedEndpoint): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function createQueryParameters({ documentation: { query = {} } }: DescribedEndpoint): object[] {
  return Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema }));
}

/** Headers that stages read apply to model calls only. */
function createRequestHeaders(api: DescribedApi, { endpoint }: DescribedEndpoint): object[] {
  if (!endpoint.isMetered) return [];
  return filterPlainHeaders(api, 'request', getDialect(endpoint)).map((header) => ({
    name: header.name,
    in: 'header',
    ...createHeader(header),
  }));
}

function createRequestBody(
  { documentation: { body, example, isForm } }: DescribedEndpoint,
  model: string,
): object | undefined {
  if (body === undefined) return undefined;
  const media = { schema: body, ...(example !== undefined && { example: example(model) }) };
  return { required: true, content: { [isForm === true ? 'multipart/form-data' : 'application/json']: media } };
}

function getDialect({ format, dialect = 'openai' }: DescribedEndpoint['endpoint']): Dialect {
  return format?.dialect ?? dialect;
}

function createResponses(api: DescribedApi, { endpoint, documentation: { stream } }: DescribedEndpoint): object {
  const dialect = getDialect(endpoint);
  const headers = Object.fromEntries(
    filterPlainHeaders(api, 'response', dialect === 'google' ? 'openai' : dialect).map(({ name }) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );
  const json = { 'application/json': { schema: { type: stream === 'always' ? ['object', 'array'] : 'object' } } };
  const events = { 'text/event-stream': { schema: { type: 'string' } } };
  const content = stream === undefined || stream === false ? json : { ...json, ...events };
  const error = { 'application/json': { schema: { $ref: `#/components/schemas/${dialect}_error` } } };
  return {
    '200': { description: 'The response.', headers, content },
    '4XX': { description: 'The request was refused.', headers, content: error },
    '5XX': { description: 'The service or its upstreams failed.', headers, content: error },
  };
}
