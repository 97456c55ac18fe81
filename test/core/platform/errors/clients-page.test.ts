import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import { errorKinds, GatewayError } from '#core/platform/errors/table.ts';
import { type Format, descriptors } from '../../../support/formats.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'clients.md'), 'utf8');

/** The error object at the end of a stream. */
function endOf(error: GatewayError, format: Format) {
  const { dialect } = descriptors[format];
  const text = renderStreamError(error, { id: 'req_1', format: descriptors[format], dialect });
  const body = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '');
  return (body.response ?? body).error as Record<string, string>;
}

it.each(Object.entries(errorKinds))('docs/clients.md has the sentence of %s', (code, { status }) => {
  const shown = code === 'upstream_rejected' ? 'its own 4xx' : status;
  expect(page).toContain(`\n| \`${code}\` | ${shown} | `);
});

it.each([
  ['cut, broken or failing upstream', 'upstream_failed'],
  ['stall', 'upstream_timeout'],
  ['overload', 'unavailable'],
  ['rate limit', 'rate_limited'],
  ['the gateway stops', 'shutting_down'],
  ['a fault of the gateway', 'internal_error'],
] as const)('docs/clients.md has how a stream ends after %s', (row, code) => {
  const error = new GatewayError(code, '…', code === 'rate_limited' ? { retryAfter: 5 } : {});
  const cells = [
    endOf(error, 'chat')['message'],
    endOf(error, 'chat')['type'],
    endOf(error, 'messages')['type'],
    endOf(error, 'responses')['code'],
    endOf(error, 'gemini')['status'],
  ];
  expect(page).toContain(`| ${[row, ...cells.map((cell) => `\`${cell}\``)].join(' | ')} |`);
});
