import { createHash, createHmac } from 'node:crypto';

/*
 * Signature Version 4 as AWS checks it, written from its documentation and independently of the signing library:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** @param scope `20150830/us-east-1/iam/aws4_request` */
export function signingKey(secret: string, scope: string): Buffer {
  return scope.split('/').reduce<string | Buffer>((key, part) => hmac(key, part), `AWS4${secret}`) as Buffer;
}

export interface SignedParts {
  readonly method: string;
  readonly path: string;
  readonly query: string; // sorted and encoded, without the signature
  readonly headers: Readonly<Record<string, string>>; // signed ones by name, sorted
  readonly payloadHash: string;
  readonly date: string;
  readonly scope: string;
}

export function signatureOf(parts: SignedParts, secret: string): string {
  const { method, path, query, headers, payloadHash, date, scope } = parts;
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const names = Object.keys(headers).join(';');
  const canonical = [method, path, query, lines.join(''), names, payloadHash].join('\n');
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  return createHmac('sha256', signingKey(secret, scope)).update(text).digest('hex');
}

export const emptyPayload = sha256('');

export function refusalOfBedrockKey(key: string, secret: string, region: string): string | undefined {
  const prefix = 'bedrock-api-key-';
  if (!key.startsWith(prefix)) return 'no short-term key';
  const url = new URL(`https://${Buffer.from(key.slice(prefix.length), 'base64').toString()}`);
  const { searchParams } = url;
  const get = (name: string) => searchParams.get(name) ?? '';
  if (url.host !== 'bedrock.amazonaws.com' || get('Action') !== 'CallWithBearerToken' || get('Version') !== '1')
    return 'not for Bedrock';
  const date = get('X-Amz-Date');
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  const signedAt = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (!(Date.now() < signedAt + Number(get('X-Amz-Expires')) * 1_000)) return 'expired';
  const scope = get('X-Amz-Credential').split('/').slice(1).join('/');
  if (scope !== `${date.slice(0, 8)}/${region}/bedrock/aws4_request`) return `scope ${scope}`;
  const query = [...searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature' && name !== 'Version')
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .toSorted()
    .join('&');
  const parts = {
    method: 'POST',
    path: '/',
    query,
    headers: { host: url.host },
    payloadHash: emptyPayload,
    date,
    scope,
  };
  return signatureOf(parts, secret) === get('X-Amz-Signature') ? undefined : 'wrong signature';
}
