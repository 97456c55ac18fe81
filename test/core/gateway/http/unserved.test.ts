import { describe, expect, it } from 'vitest';
import { findUnservedMessage } from '#core/gateway/http/unserved.ts';

describe('the sentence about an API that this service does not have', () => {
  it.each([
    ['/v1/files', 'stores no files'],
    ['/v1/files/file-1/content', 'stores no files'],
    ['/v1beta/files:register', 'stores no files'],
    ['/v1/upload/v1/files', 'stores no files'],
    ['/v1/upload/v1beta/files', 'stores no files'],
    ['/v1/upload/v1beta/fileSearchStores/x:uploadToFileSearchStore', 'no vector stores'],
    ['/v1/batches', 'no batches'],
    ['/v1/messages/batches', 'no batches'],
    ['/v1beta/models/x:batchGenerateContent', 'no batches'],
    ['/v1/fine_tuning/jobs', 'no fine-tuning'],
    ['/v1/realtime', 'no realtime'],
    ['/v1/realtime/client_secrets', 'no realtime'],
    ['/v1beta/auth_tokens', 'no realtime'],
    ['/v1/live', 'no realtime'],
    ['/v1/live/sessions', 'no realtime'],
    ['/v1/threads/x/runs', 'no threads'],
    ['/v1beta/interactions', 'models.generateContent'],
    ['/v1/interactions/x:cancel', 'models.generateContent'],
    ['/v1/decisions', 'no decisions'],
    ['/v1beta/decisions', 'no decisions'],
    ['/v1/agents', 'no agents'],
    ['/v1/agents/sessions/x/turns', 'no agents'],
    ['/v1beta/agents', 'no agents'],
    ['/v1/sessions', 'no agents'],
    ['/v1/audio/voices', 'no voices'],
    ['/v1/audio/voice_consents', 'no voices'],
    ['/v1beta/voices', 'no voices'],
    ['/v1/alpha/search', 'no search'],
    ['/v1beta/cachedContents', 'no cached contents'],
    ['/v1beta/models/imagen:predict', 'no predict'],
  ])('is given for %s', (path, part) => {
    expect(findUnservedMessage(path)).toContain(part);
  });

  it.each([
    '/v1/profiles',
    '/v1/filesystem',
    '/v1/messages',
    '/v1/models/files',
    '/v1/livestream',
    '/v1/audio/speech',
    '/v1beta/models/x:embedContent',
  ])('is not given for %s', (path) => {
    expect(findUnservedMessage(path)).toBeUndefined();
  });
});
