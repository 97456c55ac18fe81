import { object, string, type Infer } from '#core/platform/schema.ts';

const secret = { writeOnly: true } as const;

/** Cloud credentials. Exactly one of the groups is set. */
export const credentialsSchema = object(
  { minProperties: 1, maxProperties: 1 },
  'Cloud credentials, used instead of api_keys: bearer tokens are created from them and renewed before they expire.',
  {
    aws: object(
      ['region', 'access_key_id', 'secret_access_key'],
      'Amazon Bedrock: short-term API keys, signed with Signature Version 4.',
      {
        region: string('Region of the endpoint, such as us-east-1.'),
        access_key_id: string(secret, 'Access key id of a user or a role.'),
        secret_access_key: string(secret, 'Secret access key of a user or a role.'),
        session_token: string(secret, 'Session token of temporary credentials.'),
      },
    ),
    google: object('Google Vertex AI.', {
      key_file: string(
        'Service account or workload identity federation file. Default: application default credentials.',
      ),
    }),
    entra: object(
      ['tenant_id', 'client_id'],
      'Azure OpenAI and Foundry: an application registered in Microsoft Entra.',
      {
        tenant_id: string('The application’s directory (tenant).'),
        client_id: string('Id of the application.'),
        client_secret: string(secret, 'The application’s secret.'),
        token_file: string('File with a workload identity token, used instead of a secret.'),
        scope: string('Default: https://cognitiveservices.azure.com/.default.'),
        authority: string('Default: https://login.microsoftonline.com.'),
      },
    ),
  },
);

export type CloudCredentials = Infer<typeof credentialsSchema>;

/** Returns false if a value is empty, so that an empty variable disables the upstream. */
export function hasCompleteCredentials({ aws, google, entra }: CloudCredentials): boolean {
  const group: Readonly<Record<string, string | undefined>> | undefined = aws ?? google ?? entra;
  return (
    group !== undefined && Object.entries(group).every(([name, value]) => value !== '' || name === 'session_token')
  );
}
