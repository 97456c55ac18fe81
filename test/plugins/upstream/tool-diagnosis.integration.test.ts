import { describe, expect, it } from 'vitest';
import type { Model, Upstream } from '#core/config/catalog/catalog.ts';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { DiagnosisHost } from '#core/gateway/diagnosis/diagnosis.ts';
import { toolDiagnosis } from '../../../plugins/upstream/tool-diagnosis.ts';
import { createUpstream, type Handler } from '../../support/faulty-upstream.ts';
import { routeTo, upstreamAt } from './fixture.ts';

const refusing =
  (status: number, message: string): Handler =>
  (_request, response) =>
    response.json(status, { error: { message } });
const withoutFlags = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';

/** What `daypass doctor` finds about the tools of a server. */
async function diagnose(url: string, upstream: Partial<Upstream> = { vendor: 'vllm' }, profile: ProfileSettings = {}) {
  const route = routeTo(upstreamAt(url, upstream), { profile: mergeProfiles(profile) });
  const model: Pick<Model, 'kind' | 'routes'> = { kind: 'chat', routes: [route, route] };
  const host = { catalog: { models: [model] } } as unknown as DiagnosisHost;
  return Promise.all([...toolDiagnosis.checks(host)].map(({ run }) => run(AbortSignal.timeout(5_000))));
}

describe('daypass doctor', () => {
  it('repeats the words of a server that runs without the flags for tools', async () => {
    await using server = await createUpstream(refusing(400, withoutFlags));
    expect(await diagnose(server.url)).toEqual([
      { state: 'warning', text: withoutFlags, advice: expect.stringContaining('tools: false') },
    ]);
    expect(server.requests.map(({ body }) => JSON.parse(body.toString()) as unknown)).toMatchObject([
      { max_tokens: 0, tools: [{}] },
    ]);
  });

  it('finds nothing wrong where the server refuses an answer without room only', async () => {
    await using server = await createUpstream(refusing(400, 'max_tokens must be at least 1, got 0.'));
    expect(await diagnose(server.url)).toEqual([{ state: 'ok', text: 'are called' }]);
  });

  it('leaves a server that fails to other checks', async () => {
    await using server = await createUpstream(refusing(503, 'down'));
    expect(await diagnose(server.url)).toMatchObject([{ state: 'skipped' }]);
  });

  it.each([
    ['other vendors', { vendor: 'openai' }, {}],
    ['a route that declares no tools', { vendor: 'vllm' }, { capabilities: { tools: false } }],
  ])('does not ask %s', async (_name, upstream, profile) => {
    await using server = await createUpstream(refusing(400, withoutFlags));
    expect(await diagnose(server.url, upstream, profile)).toEqual([]);
    expect(server.requests).toEqual([]);
  });
});
