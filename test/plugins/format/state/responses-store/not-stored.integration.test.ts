import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createUpstream, type FaultyUpstream } from '../../../../support/faulty-upstream.ts';
import {
  finalResponse,
  type ResponseBody,
  responseBody,
  responsesUpstream,
  startStore,
  type StoreGateway,
} from './fixture.ts';

const note = 'not stored: the conversation is too large';

let upstream: FaultyUpstream;
let gateway: StoreGateway;

beforeAll(async () => {
  upstream = await responsesUpstream({ store: true });
  gateway = await startStore(upstream, { yaml: 'responses: { max_bytes: 1536 }' });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function ask(input: string, changes: object = {}) {
  const reply = await gateway.call('POST', '/v1/responses', { model: 'test', input, ...changes });
  return {
    text: await reply.text(),
    header: reply.headers.get('x-daypass-notes'),
    id: reply.headers.get('x-request-id'),
  };
}

function notesOf(id: string | null): Promise<readonly string[] | null> {
  return vi.waitFor(
    async () => {
      const sql = 'SELECT notes FROM request_log WHERE id = ?';
      const [row] = await gateway.database.query<{ notes: string[] | null }>(sql, [id]);
      if (row === undefined) throw new Error('not yet on record');
      return row.notes;
    },
    { timeout: 15_000, interval: 50 },
  );
}

const large = 'x'.repeat(2_000);

describe('an answer whose conversation is too large to be kept', () => {
  it('says that it is not stored, and is whole otherwise', async () => {
    const body = JSON.parse((await ask(large)).text) as ResponseBody;
    expect(body).toMatchObject({ store: false, status: 'completed', output: [{ type: 'message' }] });
  });

  it('says so in its headers', async () => {
    expect((await ask(large)).header).toBe(note);
  });

  it.each([false, true])('is on record with it, with stream: %s', async (stream) => {
    expect(await notesOf((await ask(large, { stream })).id)).toEqual([note]);
  });

  it('is on record with it where only its events have the output', async () => {
    await using bare = await responsesUpstream({ output: [] });
    await using other = await startStore(bare, { yaml: 'responses: { max_bytes: 1024 }' });
    const reply = await other.call('POST', '/v1/responses', { model: 'test', input: large, stream: true });
    const id = reply.headers.get('x-request-id');
    await reply.text();
    await vi.waitFor(
      async () => {
        const rows = await other.database.query('SELECT notes FROM request_log WHERE id = ?', [id]);
        expect(rows).toEqual([{ notes: [note] }]);
      },
      { timeout: 15_000, interval: 50 },
    );
  });

  it('stays a stream where the upstream sent JSON instead', async () => {
    await using whole = await createUpstream((_request, response) => response.json(200, responseBody(1)));
    await using other = await startStore(whole, { yaml: 'responses: { max_bytes: 1024 }' });
    const reply = await other.call('POST', '/v1/responses', { model: 'test', input: large, stream: true });
    const { headers } = reply;
    expect([headers.get('content-type'), headers.get('x-daypass-notes'), finalResponse(await reply.text())]).toEqual([
      'text/event-stream; charset=utf-8',
      note,
      expect.objectContaining({ status: 'completed', output: [expect.objectContaining({ type: 'message' })] }),
    ]);
  });

  it('has no note when its client wants nothing to be kept', async () => {
    const { header, id } = await ask(large, { store: false });
    expect([header, await notesOf(id)]).toEqual([null, null]);
  });
});

it('an answer that is kept has no note, and keeps its bytes', async () => {
  const { text, header } = await ask('one');
  expect([header, JSON.parse(text)]).toMatchObject([null, { store: true }]);
});
