import { isJson, textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { type Rendering, renderBlocks } from './blocks.ts';
import { renderMrkdwn } from './mrkdwn.ts';

/** Attachments as text: what Slack shows of them, and the fallback of one that has nothing else. */
export function renderAttachments(attachments: readonly Json[], rendering: Rendering): string {
  return attachments.map((each) => renderAttachment(each, rendering)).join('\n');
}

function renderAttachment(attachment: Json, rendering: Rendering): string {
  const fields = listOf(attachment.fields).map(
    (field) => `${textIn(field, 'title')}: ${textIn(field, 'value')}`,
  );
  const words = [
    ...['pretext', 'title', 'text'].map((name) => textIn(attachment, name)),
    ...fields,
    textIn(attachment, 'footer'),
  ].filter((text) => text !== '');
  const blocks = listOf(attachment.blocks);
  const lines = [
    ...words.map((text) => renderMrkdwn(text, rendering.around)),
    ...(blocks.length > 0 ? [renderBlocks(blocks, rendering)] : []),
  ];
  return (lines.length > 0 ? lines : [textIn(attachment, 'fallback')]).map((line) => `│ ${line}`).join('\n');
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}
