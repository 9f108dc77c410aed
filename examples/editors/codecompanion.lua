-- CodeCompanion: an adapter for ACP that starts `framegate acp`. It needs no login, like that of opencode.
require("codecompanion").setup({
  adapters = {
    acp = {
      framegate = function()
        return require("codecompanion.adapters").extend("opencode", {
          name = "framegate",
          formatted_name = "framegate",
          commands = { default = { "framegate", "acp", "demo", "--url", "http://127.0.0.1:8080" } },
        })
      end,
    },
  },
  interactions = { chat = { adapter = "framegate" } },
})
