import { expect, it } from 'vitest';
import { createItemId } from '../../../../../plugins/format/formats/responses/reply/write-output.ts';

it.each([
  ['message', 'msg_1_0'],
  ['image_generation_call', 'ig_1_0'],
  ['web_search_call', 'ws_1_0'],
  ['tool_search_call', 'tsc_1_0'],
  ['custom_tool_call_output', 'ctco_1_0'],
  ['toString', 'item_1_0'],
])('an item of the type %s without an id gets one with the prefix that OpenAI uses, %s', (type, id) => {
  expect(createItemId(type, '1', 0)).toBe(id);
});
