import type { Infer, JsonSchema } from '#core/platform/schema.ts';

const text = { type: 'string' } as const;
const secret = { type: 'string', writeOnly: true } as const;

/** Credentials of a cloud. One of the groups is given. */
export const credentialsSchema = {
  type: 'object',
  description:
    'Credentials of a cloud in place of api_keys: tokens are made of them, sent as bearer, and renewed before they end.',
  minProperties: 1,
  maxProperties: 1,
  properties: {
    aws: {
      type: 'object',
      description: 'Amazon Bedrock: short-term API keys, signed with Signature Version 4.',
      properties: {
        region: { ...text, description: 'Region of the endpoint, such as us-east-1.' },
        access_key_id: { ...secret, description: 'Of a user or a role.' },
        secret_access_key: { ...secret, description: 'Of a user or a role.' },
        session_token: { ...secret, description: 'Of temporary credentials.' },
      },
      required: ['region', 'access_key_id', 'secret_access_key'],
      additionalProperties: false,
    },
    google: {
      type: 'object',
      description: 'Google Vertex AI.',
      properties: {
        key_file: {
          ...text,
          description:
            'File of a service account or of workload identity federation. Default: application default credentials.',
        },
      },
      additionalProperties: false,
    },
    entra: {
      type: 'object',
      description: 'Azure OpenAI and Foundry: an application of Microsoft Entra.',
      properties: {
        tenant_id: { ...text, description: 'Directory of the application.' },
        client_id: { ...text, description: 'Id of the application.' },
        client_secret: { ...secret, description: 'Secret of the application.' },
        token_file: { ...text, description: 'File with the token of a federated workload, in place of a secret.' },
        scope: { ...text, description: 'Default: https://cognitiveservices.azure.com/.default.' },
        authority: { ...text, description: 'Default: https://login.microsoftonline.com.' },
      },
      required: ['tenant_id', 'client_id'],
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export type CloudCredentials = Infer<typeof credentialsSchema>;

/** False where a value is empty: an unset variable turns an upstream off. */
export function isComplete({ aws, google, entra }: CloudCredentials): boolean {
  const group: Readonly<Record<string, string | undefined>> | undefined = aws ?? google ?? entra;
  return (
    group !== undefined && Object.entries(group).every(([name, value]) => value !== '' || name === 'session_token')
  );
}
