import { describe, expect, it } from 'vitest';
import type { CloudCredentials } from '#core/config/catalog/credentials.ts';
import { checkCredentials, checkPlaceholder, listCredentialNotices } from '#core/config/sections/check-credentials.ts';

const aws = { region: 'us-east-1', access_key_id: 'AKIA', secret_access_key: 's' };
const entra = { tenant_id: 't', client_id: 'c' };
const openai = { title: 'OpenAI', baseUrl: 'https://api.openai.com/v1' };
const bedrock = { title: 'Amazon Bedrock', baseUrl: undefined };

function mistakesIn(
  credentials: CloudCredentials,
  base_url?: string,
  preset: typeof openai | typeof bedrock | undefined = undefined,
) {
  const found: string[] = [];
  checkCredentials(credentials, { base_url, preset }, [], (path, wrong) => found.push(`${path.join('.')} ${wrong}`));
  return found;
}

describe('credentials of a cloud are refused', () => {
  it.each([
    ['without a proof at Entra', { entra }, undefined, undefined, ['entra has neither client_secret nor token_file']],
    [
      'for another region than that of the host',
      { aws },
      'https://bedrock-runtime.eu-west-1.amazonaws.com/anthropic/v1',
      bedrock,
      ['aws.region is us-east-1, and base_url is in eu-west-1'],
    ],
    [
      'for another region than that of a host of the newer form',
      { aws },
      'https://bedrock-mantle.ap-southeast-3.api.aws/openai/v1',
      bedrock,
      ['aws.region is us-east-1, and base_url is in ap-southeast-3'],
    ],
    [
      'whose token would go to another vendor',
      { aws },
      undefined,
      openai,
      ['aws would be sent to OpenAI (api.openai.com)'],
    ],
    [
      'of Entra whose token would go to another vendor',
      { entra: { ...entra, client_secret: 's' } },
      undefined,
      openai,
      ['entra would be sent to OpenAI (api.openai.com)'],
    ],
    [
      'of Google whose token would go to another vendor',
      { google: {} },
      undefined,
      openai,
      ['google would be sent to OpenAI (api.openai.com)'],
    ],
  ])('%s', (_title, credentials, url, preset, mistakes) => {
    expect(mistakesIn(credentials, url, preset)).toEqual(mistakes);
  });
});

describe('credentials of a cloud are taken', () => {
  it.each([
    ['in the region of the host', { aws }, 'https://bedrock-runtime.us-east-1.amazonaws.com/anthropic/v1', bedrock],
    ['at an endpoint of the operator', { aws }, 'https://llm.example.com/v1', openai],
    ['for a host without a region', { aws }, 'https://vpce-1-bedrock.example.com/v1', bedrock],
    ['with the token of a workload', { entra: { ...entra, token_file: '/var/token' } }, undefined, bedrock],
    [
      'whose region is a variable that is not set',
      { aws: { ...aws, region: '' } },
      'https://bedrock-runtime.us-east-1.amazonaws.com/v1',
      bedrock,
    ],
  ])('%s', (_title, credentials, url, preset) => {
    expect(mistakesIn(credentials, url, preset)).toEqual([]);
  });
});

it.each([
  ['https://bedrock-runtime.REGION.amazonaws.com/anthropic/v1', ['base_url has the placeholder REGION']],
  ['https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global', ['base_url has the placeholder PROJECT']],
  ['https://RESOURCE.openai.azure.com/openai/v1', ['base_url has the placeholder RESOURCE']],
  ['https://aiplatform.googleapis.com/v1/projects/project-1/locations/global', []],
])('a placeholder of a documentation is refused in %s', (url, mistakes) => {
  const found: string[] = [];
  checkPlaceholder(url, [], (path, wrong) => found.push(`${path.join('.')} ${wrong}`));
  expect(found).toEqual(mistakes);
});

it('two proofs at Entra and files that do not exist are noted', () => {
  const both = { entra: { ...entra, client_secret: 's', token_file: '/nowhere/token' } };
  expect(listCredentialNotices('azure', both)).toEqual([
    'upstreams.azure.credentials.entra has client_secret and token_file; token_file is used',
    'upstreams.azure.credentials.entra.token_file: /nowhere/token does not exist',
  ]);
  expect(listCredentialNotices('vertex', { google: { key_file: import.meta.filename } })).toEqual([]);
});
