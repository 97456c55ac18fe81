import { describe, expect, it } from 'vitest';
import { findUnservedMessage } from '#core/gateway/http/unserved.ts';

describe('the sentence about an API that this service does not have', () => {
  it.each([
    ['/v1/files', 'does not store files'],
    ['/v1/files/file-1/content', 'does not store files'],
    ['/v1beta/files:register', 'does not store files'],
    ['/v1/upload/v1/files', 'does not store files'],
    ['/v1/upload/v1beta/files', 'does not store files'],
    ['/v1/upload/v1beta/fileSearchStores/x:uploadToFileSearchStore', 'support vector stores'],
    ['/v1/batches', 'support batches'],
    ['/v1/messages/batches', 'support batches'],
    ['/v1beta/models/x:batchGenerateContent', 'support batches'],
    ['/v1/fine_tuning/jobs', 'support fine-tuning'],
    ['/v1/realtime', 'no realtime'],
    ['/v1/realtime/client_secrets', 'no realtime'],
    ['/v1beta/auth_tokens', 'no realtime'],
    ['/v1/live', 'no realtime'],
    ['/v1/live/sessions', 'no realtime'],
    ['/v1/threads/x/runs', 'support threads'],
    ['/v1beta/interactions', 'models.generateContent'],
    ['/v1/interactions/x:cancel', 'models.generateContent'],
    ['/v1/decisions', 'no decisions'],
    ['/v1beta/decisions', 'no decisions'],
    ['/v1/agents', 'not run agents'],
    ['/v1/agents/sessions/x/turns', 'not run agents'],
    ['/v1beta/agents', 'not run agents'],
    ['/v1/sessions', 'not run agents'],
    ['/v1/audio/voices', 'not store voices'],
    ['/v1/audio/voice_consents', 'not store voices'],
    ['/v1beta/voices', 'not store voices'],
    ['/v1/alpha/search', 'no search'],
    ['/v1beta/cachedContents', 'not store cached contents'],
    ['/v1beta/models/imagen:predict', 'support the predict method'],
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
