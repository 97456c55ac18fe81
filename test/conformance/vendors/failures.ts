import { ok } from 'node:assert/strict';
import { Ajv } from 'ajv';
import type { JsonObject } from '#core/platform/json.ts';
import type { TextFormat } from '../../support/formats.ts';
import type { ReceivedBody } from '../../support/read-body.ts';
import { readers } from '../../support/readers/index.ts';
import { clients } from '../clients/index.ts';

const ajv = new Ajv({ strict: false });

function checkBody(client: TextFormat, body: string): void {
  const { error } = clients[client].schemas;
  ok(ajv.validate(error, JSON.parse(body) as JsonObject), `the error is misshapen: ${ajv.errorsText()}\n${body}`);
}

/** The client learns that its request was refused. @throws AssertionError */
export function checkRefusal(
  client: TextFormat,
  fault: 'refused' | 'rate limit',
  { status, headers }: Response,
  body: string,
): void {
  // The vendor's own status, where the client's format has it.
  const isRight = fault === 'refused' ? status === 400 || status === 422 : status === 429;
  ok(isRight, `${fault} is a ${status}: ${body}`);
  if (fault === 'refused') ok(body.includes('The request is out of order.'), `the vendor's words are lost: ${body}`);
  else ok(headers.get('retry-after') === '7', 'retry-after is not that of the vendor');
  checkBody(client, body);
}

/** The client learns that the model cannot do it. @throws AssertionError */
export function checkUnsupported(client: TextFormat, { status }: Response, body: string): void {
  ok(status === 501 || status === 400, `what the model cannot do is a ${status}: ${body}`);
  checkBody(client, body);
}

/** The client learns that its answer is incomplete. @throws AssertionError */
export function checkFailure(
  client: TextFormat,
  isStream: boolean,
  { status }: Response,
  received: ReceivedBody,
): void {
  const body = received.text;
  if (!isStream) {
    ok(status >= 500, `a failure is a ${status}: ${body}`);
    return checkBody(client, body);
  }
  const { text, finish, error } = readers[client].stream(body);
  ok(error !== undefined && finish === undefined, `the stream looks complete: ${body}`);
  ok(!received.isWhole, `the stream ends as a complete one: ${body}`);
  ok(text.startsWith('I look it up'), `the answer so far is lost: ${body}`);
}
