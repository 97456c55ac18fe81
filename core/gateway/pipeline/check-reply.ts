import { Readable } from 'node:stream';
import { headerNamePattern, headerValuePattern } from '#core/platform/http-fields.ts';
import type { Reply } from './reply.ts';
import { StageFault, type StageMoment } from './stage-fault.ts';

/**
 * Checks a reply returned by a stage, so that an invalid reply becomes an error with a status instead of a dropped connection.
 *
 * @param checked a reply already checked; parts that `value` shares with it are not checked again
 * @throws StageFault
 */
export function checkReply(value: unknown, moment: StageMoment, checked?: Reply): Reply {
  const mistake = value === checked ? undefined : describeMistake(value, checked);
  if (mistake !== undefined) throw new StageFault(moment, `returned ${mistake}`);
  return value as Reply;
}

function describeMistake(value: unknown, checked: Reply | undefined): string | undefined {
  if (typeof value !== 'object' || value === null) return `${describeValue(value)}; a reply must be an object`;
  const { status, headers, body } = value as Partial<Record<keyof Reply, unknown>>;
  if (!Number.isInteger(status) || (status as number) < 200 || (status as number) > 599)
    return `the status ${describeValue(status)}; it must be an integer from 200 to 599`;
  if (typeof headers !== 'object' || headers === null)
    return `the headers ${describeValue(headers)}; they must be an object`;
  const badHeader = headers === checked?.headers ? undefined : describeBadHeader(headers, checked?.headers);
  return badHeader ?? describeBadBody(body);
}

function describeBadHeader(headers: object, checked: Reply['headers'] | undefined): string | undefined {
  for (const name in headers) {
    const value = (headers as Readonly<Record<string, unknown>>)[name];
    if (value === checked?.[name]) continue;
    if (typeof value !== 'string') return `the header "${name}" as ${describeValue(value)}; it must be a string`;
    if (!headerNamePattern.test(name) || !headerValuePattern.test(value))
      return `a header "${name}" that HTTP does not allow`;
  }
  return undefined;
}

function describeBadBody(body: unknown): string | undefined {
  if (body === null || typeof body === 'string' || Buffer.isBuffer(body)) return undefined;
  if (!(body instanceof Readable))
    return `the body as ${describeValue(body)}; it must be null, a string, a Buffer or a Readable`;
  return body.readableObjectMode ? 'a body in object mode; it must be a stream of bytes' : undefined;
}

export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (typeof value !== 'object' || value === null) return String(value);
  return `an object of type ${value.constructor?.name ?? 'null'}`;
}
