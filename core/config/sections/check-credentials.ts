import { existsSync } from 'node:fs';
import type { Vendor } from '../catalog/catalog.ts';
import type { CloudCredentials } from '../catalog/credentials.ts';
import type { Report, YamlPath } from '../section.ts';

const placeholder =
  /(?<=[/.-])(?:REGION|PROJECT|PROJECT_ID|LOCATION|RESOURCE|RESOURCE_NAME|ACCOUNT|ACCOUNT_ID)(?=[/.-]|$)/;
const regionInHost = /\.([a-z]{2}(?:-[a-z]+)+-\d)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$/; // `bedrock-runtime.eu-west-1.amazonaws.com`
const hostsByCloud: {
  readonly [Cloud in keyof CloudCredentials]-?: { readonly title: string; readonly host: RegExp };
} = {
  aws: { title: 'AWS', host: /\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$/ },
  google: { title: 'Google', host: /\.googleapis\.com$/ },
  entra: { title: 'Microsoft', host: /\.(?:azure\.com|azure\.us|azure\.cn|microsoft\.com|windows\.net)$/ },
};

interface Target {
  readonly base_url?: string | undefined;
  readonly preset: { readonly title: Vendor['title']; readonly baseUrl?: string | undefined } | undefined;
}

/** Reports a placeholder that was copied from documentation, such as REGION. */
export function checkPlaceholder(baseUrl: string | undefined, path: YamlPath, report: Report): void {
  const [word] = placeholder.exec(baseUrl ?? '') ?? [];
  if (word !== undefined) report([...path, 'base_url'], `has the placeholder ${word}`, 'replace it with your own');
}

/** Reports credentials that cannot work, or whose tokens would go to another vendor. */
export function checkCredentials(
  credentials: CloudCredentials,
  { base_url, preset }: Target,
  path: YamlPath,
  report: Report,
): void {
  const { aws, entra } = credentials;
  if (entra !== undefined && entra.client_secret === undefined && entra.token_file === undefined)
    report([...path, 'entra'], 'has neither client_secret nor token_file', 'add one of them');
  const host = URL.parse(base_url ?? preset?.baseUrl ?? '')?.hostname;
  const [, region] = regionInHost.exec(host ?? '') ?? [];
  if (aws !== undefined && region !== undefined && aws.region !== region && aws.region !== '')
    report([...path, 'aws', 'region'], `is ${aws.region}, and base_url is in ${region}`, `use ${region}`);
  // The operator's own URL may lead to a proxy.
  if (base_url !== undefined || preset === undefined || host === undefined) return;
  for (const [cloud, { title, host: cloudHost }] of Object.entries(hostsByCloud))
    if (cloud in credentials && !cloudHost.test(`.${host}`))
      report(
        [...path, cloud],
        `would be sent to ${preset.title} (${host})`,
        `add the base_url of your endpoint at ${title}, or remove it`,
      );
}

export function listCredentialNotices(name: string, { google, entra }: CloudCredentials = {}): string[] {
  const place = `upstreams.${name}.credentials`;
  const files = [
    ['google.key_file', google?.key_file],
    ['entra.token_file', entra?.token_file],
  ] as const;
  return [
    ...(entra?.client_secret !== undefined && entra.token_file !== undefined
      ? [`${place}.entra has client_secret and token_file; token_file is used`]
      : []),
    ...files.flatMap(([option, file]) =>
      file === undefined || file === '' || existsSync(file) ? [] : [`${place}.${option}: ${file} does not exist`],
    ),
  ];
}
