import { type ActionKind, splitActionName } from '#core/business/operator-actions/action-kind.ts';
import { getActions } from '#core/business/operator-actions/actions.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import type { Host } from '#core/gateway/host/host.ts';

export const rootPath = '/operator/api';

/** Builds an action's path: `/accounts/{handle}/block`, or `/books/reconcile` for an action without a handle. */
export function buildActionPath({ subject, name }: ActionKind): string {
  const subjectPath = subject.find === undefined ? subject.name : `${subject.name}s/{handle}`;
  return `/${subjectPath}/${splitActionName(name).verb}`;
}

const jsonContent = (schema: object) => ({ content: { 'application/json': { schema } } });
const objectSchema = { type: 'object' };
const handleParameter = { name: 'handle', in: 'path', required: true, schema: { type: 'string' } };
const listHandleParameters = (path: string) => (path.includes('{handle}') ? [handleParameter] : []);
const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A call that is repeated with the same key within a day gets the first response, without secrets such as codes, and is not performed again.',
  schema: { type: 'string', maxLength: 255 },
};
const failureResponse = { description: 'Failed; `error` has `code` and `message`.', ...jsonContent(objectSchema) };

export function createOpenApiDocument(
  host: Pick<Host, 'service' | 'keep'>,
  readings: Iterable<OperatorReading>,
): object {
  const { service } = host;
  const readPaths = [...readings].map(({ path, summary, query = {} }) => {
    const parameters = Object.entries(query).map(([name, description]) => ({
      name,
      in: 'query',
      description,
      schema: { type: 'string' },
    }));
    const responses = { 200: { description: 'Read.', ...jsonContent(objectSchema) }, default: failureResponse };
    return [path, { get: { summary, parameters: [...listHandleParameters(path), ...parameters], responses } }];
  });
  const actionPaths = [...getActions(host).values()].map((action) => {
    const path = buildActionPath(action);
    const post = {
      operationId: action.name,
      summary: action.summary,
      parameters: [...listHandleParameters(path), idempotencyKey],
      requestBody: { required: (action.input.required?.length ?? 0) > 0, ...jsonContent(action.input) },
      responses: {
        200: { description: 'Done, and recorded.', ...jsonContent(objectSchema) },
        default: failureResponse,
      },
    };
    return [path, { post }];
  });
  return {
    openapi: '3.1.0',
    info: { title: `${service.name}: operator API`, version: '1' },
    servers: [{ url: `${service.baseUrl}${rootPath}` }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
    paths: Object.fromEntries([...readPaths, ...actionPaths]),
  };
}
