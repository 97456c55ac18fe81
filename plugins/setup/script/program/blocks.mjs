// Blocks: lines between two markers, in files whose comments start with #.

import { Refusal } from '../edit/common.mjs';
import { run } from './run.mjs';

const marker = (arrows) => `# ${arrows} ${run.slug} ${arrows}`;
const lacksLineEnd = (content) => content !== undefined && content !== '' && !content.endsWith('\n');

/** Without a block, `head` is the whole content. Refuses markers that are not a single pair. */
export function findBlock(content) {
  const findMarkers = (text) => {
    const markers = [];
    for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + 1)) {
      const end = /^\r?(?:\n|$)/.exec(content.slice(at + text.length));
      if (end && (at === 0 || content[at - 1] === '\n')) markers.push({ at, end: at + text.length + end[0].length });
    }
    return markers;
  };
  const [opening, closing] = [marker('>>>'), marker('<<<')];
  const [openings, closings] = [findMarkers(opening), findMarkers(closing)];
  if (openings.length === 0 && closings.length === 0) return { head: content, lines: '', tail: '', isFound: false };
  if (openings.length === 1 && closings.length === 0) throw new Refusal(`its marker "${closing}" is missing`);
  if (openings.length !== 1 || closings.length !== 1 || openings[0].at > closings[0].at)
    throw new Refusal(`its markers "${opening}" and "${closing}" are not one pair`);
  const lines = content.slice(openings[0].end, closings[0].at);
  return { head: content.slice(0, openings[0].at), lines, tail: content.slice(closings[0].end), isFound: true };
}

/** Also removes the line end that was added before the block. */
export function withoutBlock(block, before) {
  const content = block.head + block.tail;
  return block.isFound && block.tail === '' && lacksLineEnd(before) && content !== '' ? content.slice(0, -1) : content;
}

export function withBlock(block, wanted) {
  const separator = !block.isFound && lacksLineEnd(block.head) ? '\n' : '';
  return `${block.head}${separator}${marker('>>>')}\n${wanted}${marker('<<<')}\n${block.tail}`;
}
