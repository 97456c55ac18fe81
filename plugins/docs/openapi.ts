import { type Dialect, dialectNames, dialects } from '#core/platform/errors/dialects.ts';
import type { Service } from '#core/gateway/host/host.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { DescribedApi, DescribedEndpoint, DescribedHeader } from './describe-api.ts';

/** Writes the OpenAPI 3.1 document of the described API. @param model model used in examples */
export function writeOpenApi(api: DescribedApi, { name, baseUrl }: Service, model: string): JsonObject {
  const credentials = api.headers.filter(({ isCredential }) => isCredential === true);
  const schemes = Object.fromEntries(credentials.map((header) => [schemeName(header), securityScheme(header)]));
  return toJson({
    openapi: '3.1.1',
    info: { title: `${name} API`, version: '1', description: api.limits.map((limit) => `- ${limit}`).join('\n') },
    servers: [{ url: baseUrl }],
    security: credentials.map((header) => ({ [schemeName(header)]: [] })),
    tags: [...new Set(api.endpoints.map(tagOf))].map((tag) => ({ name: tag })),
    paths: writePaths(api, model),
    components: {
      securitySchemes: schemes,
      schemas: Object.fromEntries(dialectNames.map((dialect) => [`${dialect}_error`, dialects[dialect].errorSchema])),
      headers: Object.fromEntries(headersOf(api, 'response').map((header) => [header.name, describeHeader(header)])),
    },
  });
}

/** Drops undefined members and values that JSON cannot represent. */
function toJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function headersOf({ headers }: DescribedApi, side: DescribedHeader['in'], dialect?: Dialect): DescribedHeader[] {
  const isFor = (header: DescribedHeader) => dialect === undefined || (header.dialect ?? dialect) === dialect;
  return headers.filter((header) => header.in === side && header.isCredential !== true && isFor(header));
}

/** Key in `components`: contains only letters and hyphens. */
function schemeName({ name }: DescribedHeader): string {
  return name === 'Authorization' ? 'bearer' : name;
}

function securityScheme({ name, text: description }: DescribedHeader): object {
  return name === 'Authorization'
    ? { type: 'http', scheme: 'bearer', description }
    : { type: 'apiKey', in: 'header', name, description };
}

function describeHeader({ text, example }: DescribedHeader): object {
  return { description: text, schema: { type: 'string' }, example };
}

function tagOf({ endpoint }: DescribedEndpoint): string {
  return endpoint.format?.name ?? 'account';
}

/** Groups endpoints by path, since endpoints that share a path differ in their methods. */
function writePaths(api: DescribedApi, model: string): object {
  const paths: Record<string, Record<string, object>> = {};
  const names = new Map<string, number>();
  for (const one of api.endpoints) {
    const count = (names.get(one.endpoint.name) ?? 0) + 1;
    names.set(one.endpoint.name, count);
    const id = count === 1 ? one.endpoint.name : `${one.endpoint.name}_${count}`;
    (paths[one.path] ??= {})[one.endpoint.method.toLowerCase()] = writeOperation(api, one, id, model);
  }
  return paths;
}

function writeOperation(api: DescribedApi, one: DescribedEndpoint, operationId: string, model: string): object {
  const { endpoint, documentation, summary } = one;
  const { reference } = documentation;
  return {
    operationId,
    summary,
    tags: [tagOf(one)],
    ...(reference !== undefined && { externalDocs: { url: reference } }),
    ...(endpoint.isPublic === true && { security: [] }),
    parameters: [...pathParameters(one), ...queryParameters(one), ...requestHeaders(api, one)],
    requestBody: requestBody(one, model),
    responses: writeResponses(api, one),
  };
}

function pathParameters({ path }: DescribedEndpoint): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ documentation: { query = {} } }: DescribedEndpoint): object[] {
  return Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema }));
}

/** Headers of stages apply to model calls only. */
function requestHeaders(api: DescribedApi, { endpoint }: DescribedEndpoint): object[] {
  if (!endpoint.isMetered) return [];
  return headersOf(api, 'request', dialectOf(endpoint)).map((header) => ({
    name: header.name,
    in: 'header',
    ...describeHeader(header),
  }));
}

function requestBody(
  { documentation: { body, example, isForm } }: DescribedEndpoint,
  model: string,
): object | undefined {
  if (body === undefined) return undefined;
  const media = { schema: body, ...(example !== undefined && { example: example(model) }) };
  return { required: true, content: { [isForm === true ? 'multipart/form-data' : 'application/json']: media } };
}

function dialectOf({ format, dialect = 'openai' }: DescribedEndpoint['endpoint']): Dialect {
  return format?.dialect ?? dialect;
}

function writeResponses(api: DescribedApi, { endpoint, documentation: { stream } }: DescribedEndpoint): object {
  const dialect = dialectOf(endpoint);
  const headers = Object.fromEntries(
    headersOf(api, 'response', dialect === 'google' ? 'openai' : dialect).map(({ name }) => [
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
