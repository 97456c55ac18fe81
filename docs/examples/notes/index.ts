/**
 * A plugin with a table, a section of gateway.yaml, two endpoints and a job: callers keep notes.
 *
 *     plugins: [./docs/examples/notes/index.ts]
 *     notes: { keep_days: 7 }
 */
import { randomUUID } from 'node:crypto';
import {
  defineEntity,
  defineSection,
  type Exchange,
  GatewayError,
  type GatewayPlugin,
  type Host,
  type JobDefinition,
  p,
  personal,
  principal,
  type Reply,
} from 'daypass';

const Note = defineEntity({
  name: 'Note',
  tableName: 'notes',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    text: personal(p.text()),
    createdAt: p.datetime(),
  },
});

const section = defineSection({
  name: 'notes',
  schema: {
    type: 'object',
    description: 'Notes of callers.',
    default: {},
    properties: {
      keep_days: { type: 'integer', minimum: 1, default: 30, description: 'Days that a note is kept.' },
    },
    additionalProperties: false,
  },
});

const removeOldNotes: JobDefinition = {
  name: 'remove-old-notes',
  description: 'Deletes notes that are older than notes.keep_days.',
  schedule: { every: 3_600 },
  async run(_data, host) {
    const oldest = new Date(host.now() - host.section(section).keep_days * 86_400_000);
    await host.database.fork().nativeDelete(Note, { createdAt: { $lt: oldest } });
  },
};

export const plugin: GatewayPlugin = {
  name: 'notes',
  register(server) {
    const { gateway } = server;
    gateway.section(section);
    gateway.tables({ name: 'notes', entities: [Note], migrations: new URL('./migrations/', import.meta.url) });
    gateway.job(removeOldNotes);
    gateway.endpoint({
      name: 'add_note',
      method: 'POST',
      path: '/v1/notes',
      isMetered: false,
      answer: (exchange) => addNote(exchange, server.host()),
    });
    gateway.endpoint({
      name: 'list_notes',
      method: 'GET',
      path: '/v1/notes',
      isMetered: false,
      answer: (exchange) => listNotes(exchange, server.host()),
    });
  },
};

async function addNote(exchange: Exchange, host: Host): Promise<Reply> {
  const { text } = await exchange.body.json();
  if (typeof text !== 'string' || text === '')
    throw new GatewayError('invalid_request', '`text` must be a non-empty string', { param: 'text' });
  const id = randomUUID();
  const em = host.database.fork();
  em.create(Note, { id, accountId: exchange.get(principal).accountId, text, createdAt: new Date(host.now()) });
  await em.flush();
  return json(201, { id });
}

async function listNotes(exchange: Exchange, host: Host): Promise<Reply> {
  const { accountId } = exchange.get(principal);
  const notes = await host.database.fork().find(Note, { accountId }, { orderBy: { createdAt: 'asc' }, limit: 100 });
  return json(200, { data: notes.map(({ id, text }) => ({ id, text })) });
}

function json(status: number, value: object): Reply {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(value) };
}
