import { answerPost, isSameOrigin, sendJson, sendText } from '../slack/http.ts';
import type { Pages } from '../slack/server.ts';
import { parseAction } from './actions.ts';
import type { Panel } from './panel.ts';

/** Puts the panel API, whose contract is `panel-api.ts`, in front of the files of the page; `getPanel` is called for each request. */
export function withPanel(pages: Pages, getPanel: () => Panel | undefined): Pages {
  return async (incoming, outgoing) => {
    const [path = ''] = (incoming.url ?? '').split('?');
    if (!path.startsWith('/panel/')) return pages(incoming, outgoing);
    const panel = getPanel();
    if (!panel) return sendText(outgoing, 503, 'the sandbox is starting');
    if (!isSameOrigin(incoming)) return sendText(outgoing, 403, 'not from another site');
    switch (`${incoming.method} ${path}`) {
      case 'GET /panel/state':
        return sendJson(outgoing, 200, await panel.state());
      case 'POST /panel/do':
        return answerPost(incoming, outgoing, async (json) => {
          const action = parseAction(json);
          return action && panel.perform(action);
        });
      default:
        return sendText(outgoing, 404, 'not found');
    }
  };
}
