# `nix run github:framegate/framegate`, `nix build`, `nix develop`. A flake of a repository is in its root. The version and the hashes of the
# dependencies are those of Cargo.toml and Cargo.lock.
#
# There is no flake.lock yet: `nix flake lock` makes one, and needs access to nixpkgs. Without it, nix takes the newest nixpkgs.
{
  description = "Streaming proxy that normalises coding agents' event streams and serves them in any contract";

  # The stable branches have older compilers than Cargo.toml asks for.
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forEach = function: nixpkgs.lib.genAttrs systems (system: function nixpkgs.legacyPackages.${system});
      manifest = nixpkgs.lib.importTOML ./Cargo.toml;
    in
    {
      packages = forEach (pkgs: rec {
        default = framegate;
        framegate = pkgs.rustPlatform.buildRustPackage {
          pname = manifest.package.name;
          version = manifest.workspace.package.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [
            "--package"
            "framegate"
            "--bin"
            "framegate"
          ];
          # As in the released binaries.
          buildFeatures = [
            "jetstream"
          ];
          # jemalloc on aarch64 works on pages that are smaller than those it was built for, and not on larger ones.
          env = pkgs.lib.optionalAttrs pkgs.stdenv.hostPlatform.isAarch64 { JEMALLOC_SYS_WITH_LG_PAGE = "16"; };
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # The tests start real clients and servers, which test.sh installs.
          doCheck = false;
          # The manual pages and completions come from the binary, which a build for another processor cannot run.
          postInstall = pkgs.lib.optionalString (pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform) ''
            mkdir pages
            $out/bin/framegate man --dir pages
            installManPage pages/*.1
            installShellCompletion --cmd framegate \
              --bash <($out/bin/framegate completions bash) \
              --zsh <($out/bin/framegate completions zsh) \
              --fish <($out/bin/framegate completions fish)
          '';
          meta = {
            description = manifest.package.description;
            homepage = manifest.workspace.package.repository;
            license = pkgs.lib.licenses.asl20;
            mainProgram = "framegate";
            platforms = systems;
          };
        };
      });

      devShells = forEach (pkgs: {
        default = pkgs.mkShell {
          inputsFrom = [ self.packages.${pkgs.stdenv.hostPlatform.system}.framegate ];
          packages = [
            pkgs.clippy
            pkgs.rustfmt
            pkgs.nodejs
            pkgs.python3
          ];
        };
      });
    };
}
