import type { HomeView, ModalView } from '@slack/types';
import type { WorkspaceId } from '../../domain/ids.ts';
import { stampBlocks, stampView } from '../kit/stamp.ts';
import type { SlackApi } from './slack-api.ts';

/** The same API, whose messages and views name the workspace where the app is installed for a whole organization. */
export function stampedApi(
  slack: SlackApi,
  workspaceId: WorkspaceId,
  isOfOrganization: () => Promise<boolean>,
): SlackApi {
  // No method throws, whatever the store does.
  const isStamped = () => isOfOrganization().catch(() => false);
  const stamped = async <Content extends { readonly blocks?: unknown }>(content: Content) =>
    (await isStamped()) ? { ...content, blocks: stampBlocks(content.blocks, workspaceId) } : content;
  const viewOf = async <View extends ModalView | HomeView>(view: View) =>
    (await isStamped()) ? stampView(view, workspaceId) : view;
  return {
    ...slack,
    openView: async (triggerId, view) => slack.openView(triggerId, await viewOf(view)),
    updateView: async (viewId, view) => slack.updateView(viewId, await viewOf(view)),
    publishView: async (userId, view) => slack.publishView(userId, await viewOf(view)),
    postEphemeral: async (channelId, userId, message, threadTs) =>
      slack.postEphemeral(channelId, userId, await stamped(message), threadTs),
    post: async (recipient, message, threadTs) => slack.post(recipient, await stamped(message), threadTs),
    updateMessage: async (at, message, isPatient) =>
      slack.updateMessage(at, await stamped(message), isPatient),
    respond: async (url, body) => slack.respond(url, await stamped(body)),
  };
}
