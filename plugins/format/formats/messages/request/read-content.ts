import type { Part, Source } from '../../../canonical/conversation.ts';
import {
  createMediaPart,
  toStandardBase64,
  correctMediaType,
  placeParts,
  toTextParts,
} from '../../../canonical/media.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { readMember } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesSource } from '../../../wire/messages.ts';
import { invalidValue, isMissing, BodyObject } from '../../../wire/read.ts';
import { isToolChange } from './tool-changes.ts';

type PlacedBlock = BodyObject<MessagesBlock>;

/**
 * A string counts as one text block.
 *
 * @throws GatewayError `invalid_request`
 */
export function readBlocks<T extends object>(holder: BodyObject<T>, name: keyof T & string): PlacedBlock[] {
  const value = holder.get(name);
  if (isMissing(value)) return [];
  if (typeof value === 'string') return [new BodyObject({ type: 'text', text: value }, holder.pathOf(name))];
  if (!Array.isArray(value)) throw invalidValue(holder.pathOf(name), 'a string or a list of blocks');
  const blocks: PlacedBlock[] = [];
  for (const block of holder.objects<MessagesBlock>(name)) {
    block.text('type');
    blocks.push(block);
  }
  return blocks;
}

export function readParts<T extends object>(holder: BodyObject<T>, name: keyof T & string, notes: Notes): Part[] {
  const value = holder.get(name);
  if (typeof value === 'string') return toTextParts(value);
  return readBlocks(holder, name).flatMap((block) => readPart(block, notes));
}

/** Skips blocks that are empty or of unknown type. Source: Anthropic API reference, "Messages", content blocks. */
export function readPart(block: PlacedBlock, notes: Notes): Part[] {
  return placeParts(readBlockContent(block, notes), block);
}

/** Returns the text that represents a tool found by a tool search. */
export function writeReferenceText(name: string): string {
  return `The tool ${name} is now available.`;
}

function readBlockContent(block: PlacedBlock, notes: Notes): Part[] {
  const type = block.text('type');
  switch (type) {
    case 'text':
      return toTextParts(block.text('text'));
    case 'image':
      notes.dropMembers(block.value, ['transformations'], 'an image');
      return [{ type: 'image', source: readSource(block.object('source')), detail: undefined }];
    case 'document':
      return readDocument(block, notes);
    case 'search_result':
      return readSearchResult(block, notes);
    case 'tool_reference':
      return toTextParts(writeReferenceText(block.text('tool_name')));
    default:
      if (!isToolChange(type)) notes.dropPart(`content block ${type}`, block.path);
      return [];
  }
}

function readSource(source: BodyObject<MessagesSource>): Source {
  switch (source.text('type')) {
    case 'base64':
      return {
        type: 'base64',
        mediaType: correctMediaType(source.text('media_type')),
        data: toStandardBase64(source.text('data'), source.pathOf('data')),
      };
    case 'url':
      return { type: 'url', url: source.text('url') };
    case 'file':
      return { type: 'id', id: source.text('file_id'), vendor: 'anthropic' };
    default:
      throw invalidValue(source.pathOf('type'), 'base64, url or file');
  }
}

function readDocument(block: PlacedBlock, notes: Notes): Part[] {
  const source = block.object<MessagesSource>('source');
  const title = block.maybeText('title') || undefined;
  for (const name of ['context', 'citations'] as const) if (!block.isMissing(name)) notes.drop(`${name} of a document`);
  const { type } = source.value;
  // A plain-text document becomes text, which every model can read.
  if (type === 'text') return joinTitle(title, source.text('data'));
  if (type === 'content') return [...joinTitle(title, ''), ...readParts(source, 'content', notes)];
  const documentSource = readSource(source);
  // Only some clients treat an image sent as a document as an image, so it stays a file.
  const isImage = documentSource.type === 'base64' && documentSource.mediaType.startsWith('image/');
  return [isImage ? { type: 'file', source: documentSource, name: title } : createMediaPart(documentSource, title)];
}

function readSearchResult(block: PlacedBlock, notes: Notes): Part[] {
  if (readMember(block.value.citations, 'enabled') === true) notes.drop('citations of a search result');
  const heading = [block.maybeText('title'), block.maybeText('source')].filter(Boolean).join('\n');
  return [...toTextParts(heading), ...readParts(block, 'content', notes)];
}

function joinTitle(title: string | undefined, text: string): Part[] {
  return toTextParts([title, text].filter(Boolean).join('\n\n'));
}
