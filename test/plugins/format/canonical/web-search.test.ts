import { expect, it } from 'vitest';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import {
  noteSearchOptions,
  readWebSearch,
  writeMessagesSearchTool,
  writeResponsesSearchTool,
} from '../../../../plugins/format/canonical/web-search.ts';
import { BodyObject } from '../../../../plugins/format/wire/read.ts';

const place = { type: 'approximate', city: 'Bandung', country: 'ID' };

it('the options of a search reach the other vendor that has them, and are noted where it has not', () => {
  const notes = new Notes();
  const tool = { allowed_domains: ['a.example'], blocked_domains: ['b.example'], max_uses: 2, user_location: place };
  expect(writeResponsesSearchTool(readWebSearch(new BodyObject(tool, 'tools[0]'), notes, []), notes)).toEqual({
    type: 'web_search',
    filters: { allowed_domains: ['a.example'] },
    user_location: place,
  });
  expect(notes.entries).toEqual(['dropped max_uses of web_search', 'dropped blocked_domains of web_search']);
});

it('a search of OpenAI’s formats keeps its domains and its place at Anthropic', () => {
  const notes = new Notes();
  const ofResponses = { filters: { allowed_domains: ['a.example'] }, search_context_size: 'low' };
  const chat = { user_location: { type: 'approximate', approximate: { city: 'Bandung', country: 'ID' } } };
  const head = { type: 'web_search_20250305', name: 'web_search' };
  expect(writeMessagesSearchTool(readWebSearch(new BodyObject(ofResponses, 'tools[0]'), notes, []), notes)).toEqual({
    ...head,
    allowed_domains: ['a.example'],
  });
  expect(writeMessagesSearchTool(readWebSearch(new BodyObject(chat, 'web_search_options'), notes, []), notes)).toEqual({
    ...head,
    user_location: place,
  });
  expect(notes.entries).toEqual(['dropped search_context_size of web_search']);
});

it('a member of a search that is not known is noted', () => {
  const notes = new Notes();
  noteSearchOptions(
    readWebSearch(new BodyObject({ type: 'web_search', depth: 3 }, 'tools[0]'), notes, ['type']),
    [],
    notes,
  );
  expect(notes.entries).toEqual(['dropped depth of web_search']);
});
