import { type ActionKind, splitActionName } from '#core/business/operator-actions/action-kind.ts';
import { getActions } from '#core/business/operator-actions/actions.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import type { Host } from '#core/gateway/host/host.ts';

export const root = '/operator/api';

/** `/accounts/{handle}/block`; `/books/reconcile` for an action on all of a kind. */
export function pathOf({ subject, name }: ActionKind): string {
  const subjects = subject.find === undefined ? subject.name : `${subject.name}s/{handle}`;
  return `/${subjects}/${splitActionName(name).verb}`;
}

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const object = { type: 'object' };
const handleParameter = { name: 'handle', in: 'path', required: true, schema: { type: 'string' } };
const handleOf = (path: string) => (path.includes('{handle}') ? [handleParameter] : []);
const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A call that is repeated with the same key within a day gets the first answer, without secrets such as codes, and nothing is done twice.',
  schema: { type: 'string', maxLength: 255 },
};
const failure = { description: 'Failed; `error` has `code` and `message`.', ...json(object) };

/** Describes the API from its readings and the operators' actions. */
export function describeApi(host: Pick<Host, 'service' | 'keep'>, readings: Iterable<OperatorReading>): object {
  const { service } = host;
  const reads = [...readings].map(({ path, summary, query = {} }) => {
    const parameters = Object.entries(query).map(([name, description]) => ({
      name,
      in: 'query',
      description,
      schema: { type: 'string' },
    }));
    const responses = { 200: { description: 'Read.', ...json(object) }, default: failure };
    return [path, { get: { summary, parameters: [...handleOf(path), ...parameters], responses } }];
  });
  const acts = [...getActions(host).values()].map((action) => {
    const path = pathOf(action);
    const post = {
      operationId: action.name,
      summary: action.summary,
      parameters: [...handleOf(path), idempotencyKey],
      requestBody: { required: (action.input.required?.length ?? 0) > 0, ...json(action.input) },
      responses: { 200: { description: 'Done, and recorded.', ...json(object) }, default: failure },
    };
    return [path, { post }];
  });
  return {
    openapi: '3.1.0',
    info: { title: `${service.name}: API of the operator`, version: '1' },
    servers: [{ url: `${service.baseUrl}${root}` }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
    paths: Object.fromEntries([...reads, ...acts]),
  };
}
