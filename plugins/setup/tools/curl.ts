import type { CodeSample, SetupTool } from '../tool.ts';

/** Bodies are JSON in single quotes, so inserted values must not contain single quotes. */
export const curl: SetupTool = {
  id: 'curl',
  name: 'curl',
  group: 'libraries',
  formats: ['chat', 'responses', 'messages', 'gemini'],
  seen: '',
  steps: ({ baseUrl, apiUrl, keyVariable, model }) => {
    const messages = [{ role: 'user', content: 'Hello' }];
    const sample = (title: string, url: string, body: object): CodeSample => ({
      title,
      install: '',
      code: `curl ${url} \\
  -H "Authorization: Bearer $${keyVariable}" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body)}'`,
    });
    return [
      { kind: 'environment', key: keyVariable },
      {
        kind: 'sample',
        samples: [
          sample('Chat Completions', `${apiUrl}/chat/completions`, { model: model.name, messages }),
          sample('Responses', `${apiUrl}/responses`, { model: model.name, input: 'Hello' }),
          sample('Messages', `${apiUrl}/messages`, { model: model.name, max_tokens: 1024, messages }),
          sample('Gemini', `${baseUrl}/v1beta/models/${model.name}:generateContent`, {
            contents: [{ parts: [{ text: 'Hello' }] }],
          }),
        ],
      },
    ];
  },
};
