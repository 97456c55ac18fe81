import { describe, expect, it } from 'vitest';
import { PassThrough } from '../../../../../plugins/format/routes/pass-through/pass-through.ts';
import { createExchange } from '../../../../support/exchange.ts';
import { requestOf } from '../../invariants/fixture.ts';
import { routes } from '../../receipt/routes.ts';

const beta = 'dangerous-tool-use-2026-09-03';
const safeguards = [{ type: 'dangerous_tool_use', classifier_context: { v: 1 } }];
const verdict = { type: 'available', tool_uses: { toolu_1: { type: 'evaluated', outcome: 'not_flagged' } } };
const safeguard_results = [{ type: 'dangerous_tool_use', status: verdict }];
const body = { model: 'test', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], safeguards };

/** What Claude Code sends in its auto mode, on the route of a vendor. */
function callOn(vendor: string, isStream: boolean) {
  const found = routes.find(({ name }) => name === `${vendor} messages`);
  if (found === undefined) throw new Error(`no route of ${vendor}`);
  const headers = {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': `claude-code-20250219, ${beta}, effort-2025-11-24`,
  };
  const request = requestOf('messages', body).with({ isStream });
  const call = new PassThrough(createExchange({ headers }), request, found.route);
  const pieces = [call.request.body ?? []].flat();
  const sent = JSON.parse(Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString()) as object;
  return { call, sent, headers: call.request.headers, notes: call.request.notes ?? [] };
}

describe('safeguards of Claude Code', () => {
  it.each(['anthropic', 'bedrock-anthropic', 'vertex-anthropic', 'azure-anthropic'])(
    'reach %s with their beta',
    (vendor) => {
      const { sent, headers, notes } = callOn(vendor, true);
      expect(sent).toMatchObject({ safeguards });
      expect(headers['anthropic-beta']).toContain(beta);
      expect(notes).toEqual([]);
    },
  );

  it.each(['bedrock-anthropic', 'vertex-anthropic', 'azure-anthropic'])(
    'are the only beta that reaches %s',
    (vendor) => {
      const { headers } = callOn(vendor, true);
      expect([headers['anthropic-beta'], headers['anthropic-version']]).toEqual([beta, '2023-06-01']);
    },
  );

  it.each(['deepseek-anthropic', 'zhipu-anthropic', 'plain'])('are dropped with a note on %s', (vendor) => {
    const { sent, headers, notes } = callOn(vendor, true);
    expect(sent).not.toHaveProperty('safeguards');
    expect(headers['anthropic-beta']).toBeUndefined();
    expect(notes).toContain('dropped safeguards');
  });

  it.each(['anthropic', 'bedrock-anthropic', 'vertex-anthropic', 'azure-anthropic'])(
    'have verdicts of %s in its answers, whole and streamed',
    (vendor) => {
      const content = [{ type: 'tool_use', id: 'toolu_1', name: 'x', input: {} }];
      const usage = { input_tokens: 1, output_tokens: 1 };
      const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', usage };
      const whole = { ...head, content, stop_reason: 'tool_use', stop_sequence: null, safeguard_results };
      const answer = callOn(vendor, false)
        .call.createReader()
        .whole(Buffer.from(JSON.stringify(whole)), 'application/json');
      expect(JSON.parse(answer.body.toString())).toMatchObject({ safeguard_results });

      const delta = { stop_reason: 'tool_use', stop_sequence: null, safeguard_results };
      const events = [
        { type: 'message_start', message: { ...head, content: [], stop_reason: null, stop_sequence: null } },
        { type: 'content_block_start', index: 0, content_block: content[0] },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta, usage },
        { type: 'message_stop' },
      ];
      const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
      const reader = callOn(vendor, true).call.createReader();
      const got = Buffer.concat([reader.push(Buffer.from(stream)), reader.end()]).toString();
      expect(got).toContain(`"safeguard_results":${JSON.stringify(safeguard_results)}`);
    },
  );
});
