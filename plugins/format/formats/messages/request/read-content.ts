import type { JsonValue } from '#core/platform/json.ts';
import type { Part, Source } from '../../../canonical/conversation.ts';
import { mediaPart, standardBase64, plainMediaType, placeParts, textPart } from '../../../canonical/media.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { member } from '../../../wire/members.ts';
import { invalid, isMissing, maybeText, readObject, readText } from '../../../wire/read.ts';
import { isToolChange } from './tool-changes.ts';
import type { MessagesBlock, MessagesSource } from '../../../wire/messages.ts';

/** A block of content and its path. */
export interface PlacedBlock {
  readonly type: string;
  readonly block: MessagesBlock;
  readonly path: string;
}

/**
 * Reads content into its blocks; a string stands for one block of text.
 *
 * @throws GatewayError `invalid_request`
 */
export function readBlocks(value: JsonValue | undefined, path: string): PlacedBlock[] {
  if (isMissing(value)) return [];
  if (typeof value === 'string') return [{ type: 'text', block: { type: 'text', text: value }, path }];
  if (!Array.isArray(value)) throw invalid(path, 'a string or a list of blocks');
  return value.map((entry, index) => {
    const blockPath = `${path}[${index}]`;
    const block: MessagesBlock = readObject(entry, blockPath);
    return { type: readText(block.type, `${blockPath}.type`), block, path: blockPath };
  });
}

/** Reads the content of a user or a tool result. */
export function readParts(value: JsonValue | undefined, path: string, notes: Notes): Part[] {
  return readBlocks(value, path).flatMap((placed) => readPart(placed, notes));
}

/**
 * Reads a block of a user or a tool result. Empty blocks are left out, and so are those of unknown types.
 * Source: Anthropic API reference, "Messages", content blocks.
 */
export function readPart(placed: PlacedBlock, notes: Notes): Part[] {
  return placeParts(readShown(placed, notes), placed.path);
}

/** Results of a search for tools, as text. */
export function referenceText(name: string): string {
  return `The tool ${name} is now available.`;
}

function readShown({ type, block, path }: PlacedBlock, notes: Notes): Part[] {
  switch (type) {
    case 'text':
      return textPart(readText(block.text, `${path}.text`));
    case 'image':
      notes.dropMembers(block, ['transformations'], 'an image');
      return [{ type: 'image', source: readSource(block, path), detail: undefined }];
    case 'document':
      return readDocument(block, path, notes);
    case 'search_result':
      return readSearchResult(block, path, notes);
    case 'tool_reference':
      return textPart(referenceText(readText(block.tool_name, `${path}.tool_name`)));
    default:
      if (!isToolChange(type)) notes.dropPart(`content block ${type}`, path);
      return [];
  }
}

function readSource(block: MessagesBlock, path: string): Source {
  const sourcePath = `${path}.source`;
  const source: MessagesSource = readObject(block.source, sourcePath);
  switch (readText(source.type, `${sourcePath}.type`)) {
    case 'base64':
      return {
        type: 'base64',
        mediaType: plainMediaType(readText(source.media_type, `${sourcePath}.media_type`)),
        data: standardBase64(readText(source.data, `${sourcePath}.data`), `${sourcePath}.data`),
      };
    case 'url':
      return { type: 'url', url: readText(source.url, `${sourcePath}.url`) };
    case 'file':
      return { type: 'id', id: readText(source.file_id, `${sourcePath}.file_id`), vendor: 'anthropic' };
    default:
      throw invalid(`${sourcePath}.type`, 'base64, url or file');
  }
}

/** A plain text document becomes text, which every model can read; others stay files. */
function readDocument(block: MessagesBlock, path: string, notes: Notes): Part[] {
  const source: MessagesSource = readObject(block.source, `${path}.source`);
  const title = maybeText(block.title, `${path}.title`) || undefined;
  for (const name of ['context', 'citations'] as const)
    if (!isMissing(block[name])) notes.drop(`${name} of a document`);
  if (source.type === 'text') return titled(title, readText(source.data, `${path}.source.data`));
  if (source.type === 'content') {
    return [...titled(title, ''), ...readParts(source.content, `${path}.source.content`, notes)];
  }
  const read = readSource(block, path);
  // A document that is an image is taken for one by some clients only.
  const isImage = read.type === 'base64' && read.mediaType.startsWith('image/');
  return [isImage ? { type: 'file', source: read, name: title } : mediaPart(read, title)];
}

function readSearchResult(block: MessagesBlock, path: string, notes: Notes): Part[] {
  if (member(block.citations, 'enabled') === true) notes.drop('citations of a search result');
  const title = maybeText(block.title, `${path}.title`);
  const source = maybeText(block.source, `${path}.source`);
  const head = [title, source].filter(Boolean).join('\n');
  return [...textPart(head), ...readParts(block.content, `${path}.content`, notes)];
}

function titled(title: string | undefined, text: string): Part[] {
  return textPart([title, text].filter(Boolean).join('\n\n'));
}
