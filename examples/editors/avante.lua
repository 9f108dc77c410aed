-- avante.nvim: a provider for ACP that starts `framegate acp`.
require("avante").setup({
  provider = "framegate",
  acp_providers = {
    framegate = {
      command = "framegate",
      args = { "acp", "demo", "--url", "http://127.0.0.1:8080" },
    },
  },
})
