import { AwsV4Signer } from 'aws4fetch';
import { describe, expect, it } from 'vitest';
import { signBedrockKey } from '../../../../plugins/upstream/credentials/read-token.ts';
import { emptyPayload, refusalOfBedrockKey, signatureOf, signingKey } from '../../../support/sigv4.ts';

const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const date = '20150830T123600Z';

/** Source: AWS, "Signature Version 4 test suite", and the examples of its documentation. */
describe('the check of signatures agrees with AWS', () => {
  it('in the signing key', () => {
    expect(signingKey(secret, '20150830/us-east-1/iam/aws4_request').toString('hex')).toBe(
      'c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9',
    );
  });

  const headers = { host: 'example.amazonaws.com', 'x-amz-date': date };
  it.each([
    ['get-vanilla', 'GET', '', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['post-vanilla', 'POST', '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  ])('in %s', (_name, method, query, signature) => {
    const scope = '20150830/us-east-1/service/aws4_request';
    const parts = { method, path: '/', query, headers, payloadHash: emptyPayload, date, scope };
    expect(signatureOf(parts, secret)).toBe(signature);
  });

  it.each([
    ['GET', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['POST', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  ])('as the library does: %s', async (method, signature) => {
    const signer = new AwsV4Signer({
      method,
      url: 'https://example.amazonaws.com/',
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: secret,
      service: 'service',
      region: 'us-east-1',
      datetime: date,
    });
    expect((await signer.sign()).headers.get('authorization')).toContain(`Signature=${signature}`);
  });
});

describe('a short-term key of Bedrock', () => {
  const aws = { region: 'eu-west-1', access_key_id: 'AKIDEXAMPLE', secret_access_key: secret };

  it('is valid for twelve hours', async () => {
    const { value, lifetimeSeconds: lifetime } = await signBedrockKey(aws);
    expect([refusalOfBedrockKey(value, secret, 'eu-west-1'), lifetime]).toEqual([undefined, 43_200]);
  });

  it('carries the token of temporary credentials', async () => {
    const { value } = await signBedrockKey({ ...aws, session_token: 'session/token+=' });
    expect(refusalOfBedrockKey(value, secret, 'eu-west-1')).toBeUndefined();
    expect(Buffer.from(value.slice(16), 'base64').toString()).toContain('X-Amz-Security-Token=session%2Ftoken%2B%3D');
  });

  it.each([
    ['with another secret', 'other', 'eu-west-1', undefined, 'wrong signature'],
    ['in another region', secret, 'us-east-1', undefined, /^scope/],
    ['of long ago', secret, 'eu-west-1', date, 'expired'],
  ])('is refused %s', async (_name, checked, region, datetime, refusal) => {
    const { value } = await signBedrockKey(aws, datetime);
    expect(refusalOfBedrockKey(value, checked, region)).toMatch(refusal);
  });
});
