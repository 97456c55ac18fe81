// Blocks: lines between two markers, in files whose comments begin with #.
import { Refusal } from '../edit/common.mjs';
import { run } from './run.mjs';

const marker = (arrows) => `# ${arrows} ${run.slug} ${arrows}`;
const isOpen = (content) => content !== undefined && content !== '' && !content.endsWith('\n');

/** Cuts a content at the block into head, lines and tail. Without a block, head is all of it. */
export function blockOf(content) {
  const places = (text) => {
    const found = [];
    for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + 1)) {
      const end = /^\r?(?:\n|$)/.exec(content.slice(at + text.length));
      if (end && (at === 0 || content[at - 1] === '\n')) found.push({ at, end: at + text.length + end[0].length });
    }
    return found;
  };
  const [begin, end] = [marker('>>>'), marker('<<<')];
  const [begins, ends] = [places(begin), places(end)];
  if (begins.length === 0 && ends.length === 0) return { head: content, lines: '', tail: '', isFound: false };
  if (begins.length === 1 && ends.length === 0) throw new Refusal(`its marker "${end}" is missing`);
  if (begins.length !== 1 || ends.length !== 1 || begins[0].at > ends[0].at)
    throw new Refusal(`its markers "${begin}" and "${end}" are not one pair`);
  const lines = content.slice(begins[0].end, ends[0].at);
  return { head: content.slice(0, begins[0].at), lines, tail: content.slice(ends[0].end), isFound: true };
}

/** The content without the block. The line end that was added to a last line without one is removed again. */
export function withoutBlock(block, before) {
  const clean = block.head + block.tail;
  return block.isFound && block.tail === '' && isOpen(before) && clean !== '' ? clean.slice(0, -1) : clean;
}

/** The content with the new block where the old one was, or at the end. */
export function withBlock(block, wanted) {
  const separator = !block.isFound && isOpen(block.head) ? '\n' : '';
  return `${block.head}${separator}${marker('>>>')}\n${wanted}${marker('<<<')}\n${block.tail}`;
}
