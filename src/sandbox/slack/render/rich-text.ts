import { objectsIn, textIn } from '../json.ts';
import type { Json } from '../page-api.ts';
import { formatDate } from './dates.ts';
import { channelName, groupName, personName, type Surroundings } from './names.ts';

/** Renders a rich_text block, or the part of one. */
export function renderRichText(part: Json, around: Surroundings): string {
  const elements = objectsIn(part, 'elements');
  switch (part.type) {
    case 'rich_text':
      return elements.map((each) => renderRichText(each, around)).join('\n');
    case 'rich_text_list':
      return elements
        .map(
          (each, index) =>
            `${part.style === 'ordered' ? `${index + 1}.` : '•'} ${renderRichText(each, around)}`,
        )
        .join('\n');
    default:
      return elements.map((each) => renderInline(each, around)).join('');
  }
}

function renderInline(element: Json, around: Surroundings): string {
  switch (element.type) {
    case 'link':
      return textIn(element, 'text') || textIn(element, 'url');
    case 'emoji':
      return `:${textIn(element, 'name')}:`;
    case 'user':
      return personName(textIn(element, 'user_id'), around);
    case 'usergroup':
      return groupName(textIn(element, 'usergroup_id'), around);
    case 'channel':
      return channelName(textIn(element, 'channel_id'), around);
    case 'broadcast':
      return `@${textIn(element, 'range')}`;
    case 'date':
      return formatDate(Number(element.timestamp), textIn(element, 'format'), around.now);
    default:
      return textIn(element, 'text') || textIn(element, 'value');
  }
}
